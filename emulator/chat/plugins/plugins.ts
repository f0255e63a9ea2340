import { unescape } from 'node:querystring';
import { hexId } from '../../random';
import { cdnVideoPath } from '../../video/cdnVideo';
import { calculate } from '../generation/calculate';
import { capitalize } from '../generation/words';
import type { Plugin, PluginContext } from './plugin';

const ORDER_VERB =
	/\b(?:draw|paint|make|create|generate|produce|design|write|prepare|give me|need)\b/i;
const EDIT_VERB =
	/\b(?:edit|change|modify|turn|remove|replace|add|make|convert|restyle|crop|colou?r)\b/i;
const IMAGE_WORD = /\b(?:draw|paint|picture|image|illustration|photo|poster|logo)\b/i;
const VIDEO_WORD = /\b(?:video|clip|film|animation)\b/i;
const FILE_WORD = /\b(?:file|document|report|pdf|spreadsheet|download)\b/i;
const PROMPT_WORD = /\bprompts?\b/i;
const SEARCH_REQUEST = /\b(?:search|look up|research|browse|news|latest|find out)\b/i;
const TIME_QUESTION = /\bwhat(?:'s| is) the (?:time|date)|\bwhat (?:time|day|date)\b/i;
/** Trigger word `slow-120`: the skill takes 120 seconds. */
const SLOW_TRIGGER = /\bslow-(\d{1,4})\b/i;

const slug = (text: string): string =>
	text
		.toLowerCase()
		.replace(/[^a-z0-9]+/g, '-')
		.replace(/^-|-$/g, '')
		.slice(0, 40) || 'result';

/** Subject of an image, from the file name in its URL: `…/red-fox_2.jpg` → `red fox 2`. */
export function imageName(url: string): string {
	const file = new URL(url).pathname.split('/').at(-1) ?? '';
	const words = unescape(file)
		.replace(/\.\w+$/, '')
		.replace(/[-_+.%]+/g, ' ');
	return words.trim() || new URL(url).hostname;
}

const imageUrl = ({ origin, seed, question }: PluginContext, name: string): string =>
	`${origin}/cdn/images/${slug(question.topic)}-${hexId(8, seed, name, question.topic)}.jpg`;

const isOrderFor = ({ question: { text } }: PluginContext, what: RegExp): boolean =>
	ORDER_VERB.test(text) && what.test(text) && !PROMPT_WORD.test(text);

/** All plugins and skills; those of an application run in this order (spec 2.2, 2.6, 2.7). */
export const PLUGINS: readonly Plugin[] = [
	{
		name: 'image_recognition',
		thought: 'The user sent an image, so I look at it first.',
		run({ question: { images, text } }) {
			if (images.length === 0 || EDIT_VERB.test(text)) return undefined;
			const shown = images.map(imageName).join(' and ');
			return {
				input: { images },
				result: shown,
				content: `The image shows ${shown}: a clear subject, well lit, with room around it.`,
			};
		},
	},
	{
		name: 'image_editing',
		thought: 'The user wants an image changed.',
		run(context) {
			const { images, text } = context.question;
			const [image] = images;
			if (image === undefined || !EDIT_VERB.test(text)) return undefined;
			const url = imageUrl(context, image);
			const name = imageName(image);
			return {
				input: { image, instruction: text },
				result: url,
				content: `Here is the edited image of ${name}:\n\n![${name}](${url})`,
			};
		},
	},
	{
		name: 'image_generation',
		thought: 'The user wants a picture.',
		run(context) {
			const { images, topic } = context.question;
			if (images.length > 0 || !isOrderFor(context, IMAGE_WORD)) return undefined;
			const url = imageUrl(context, 'picture');
			return {
				input: { prompt: topic },
				result: url,
				content: `Here is the picture of ${topic}:\n\n![${topic}](${url})`,
			};
		},
	},
	{
		name: 'video_generation',
		thought: 'The user wants a video.',
		run(context) {
			if (!isOrderFor(context, VIDEO_WORD)) return undefined;
			const { topic } = context.question;
			const taskId = `skill-${hexId(12, context.seed, topic)}`;
			const video = { size: '720P', aspectRatio: '16:9', seconds: 5, words: topic } as const;
			const path = cdnVideoPath({ taskId, ...video });
			const url = context.origin + path;
			return {
				input: { prompt: topic, duration: 5 },
				result: url,
				content: `Here is the video of ${topic}: [${topic}](${url})`,
			};
		},
	},
	{
		name: 'file_writer',
		thought: 'The user wants a file to download.',
		run(context) {
			if (!isOrderFor(context, FILE_WORD)) return undefined;
			const { topic } = context.question;
			const url = `${context.origin}/cdn/files/${slug(topic)}.txt`;
			return {
				input: { title: topic },
				result: url,
				content: `The file is ready: [${slug(topic)}.txt](${url})`,
			};
		},
	},
	{
		name: 'calculator',
		thought: 'The question contains a calculation.',
		run({ question: { text } }) {
			const sum = calculate(text);
			return sum === undefined
				? undefined
				: { input: { expression: sum.split(' = ')[0]! }, result: sum, content: `${sum}.` };
		},
	},
	{
		name: 'clock',
		thought: 'The user asks for the time.',
		run({ question: { text }, nowMs }) {
			if (!TIME_QUESTION.test(text)) return undefined;
			const now = new Date(nowMs).toISOString();
			return { input: { zone: 'UTC' }, result: now, content: `It is ${now} (UTC).` };
		},
	},
	{
		name: 'web_search',
		thought: 'I need to search the web.',
		run({ question: { text, topic } }) {
			if (!SEARCH_REQUEST.test(text)) return undefined;
			const result = `3 pages about ${topic}`;
			return {
				input: { query: topic },
				result,
				content: `I searched for ${topic} and read ${result}. ${capitalize(topic)} is described from three sides: its origin, its use today, and what comes next.`,
			};
		},
	},
	{
		name: 'deep_research',
		thought: 'This needs in-depth research.',
		run({ question: { text, topic } }) {
			const seconds = SLOW_TRIGGER.exec(text)?.[1];
			if (seconds === undefined) return undefined;
			return {
				input: { query: topic, seconds: Number(seconds) },
				result: `Finished after ${seconds} seconds`,
				content: `The research took ${seconds} seconds and is finished.`,
				durationMs: Number(seconds) * 1000,
			};
		},
	},
];
