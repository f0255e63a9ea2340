import { hexId } from '../../random';
import { cdnVideoPath } from '../../video/cdnVideo';
import { calculate } from '../brain/calculate';
import { capital } from '../brain/capital';
import { imageName } from './imageName';
import type { Plugin, PluginAsk } from './plugin';

const ORDER = /\b(?:draw|paint|make|create|generate|produce|design|write|prepare|give me|need)\b/i;
const EDIT =
	/\b(?:edit|change|modify|turn|remove|replace|add|make|convert|restyle|crop|colou?r)\b/i;
const PICTURE = /\b(?:draw|paint|picture|image|illustration|photo|poster|logo)\b/i;
const FILM = /\b(?:video|clip|film|animation)\b/i;
const FILE = /\b(?:file|document|report|pdf|spreadsheet|download)\b/i;
const PROMPT = /\bprompts?\b/i;
const SEARCH = /\b(?:search|look up|research|browse|news|latest|find out)\b/i;
const TIME = /\bwhat(?:'s| is) the (?:time|date)|\bwhat (?:time|day|date)\b/i;
/** `slow-120`: a skill that works for 120 seconds. */
const SLOW = /\bslow-(\d{1,4})\b/i;

const slug = (text: string): string =>
	text
		.toLowerCase()
		.replace(/[^a-z0-9]+/g, '-')
		.replace(/^-|-$/g, '')
		.slice(0, 40) || 'result';

const pictureUrl = ({ origin, seed, question }: PluginAsk, name: string): string =>
	`${origin}/cdn/images/${slug(question.topic)}-${hexId(8, seed, name, question.topic)}.jpg`;

const orders = ({ question: { text } }: PluginAsk, what: RegExp): boolean =>
	ORDER.test(text) && what.test(text) && !PROMPT.test(text);

/** Every plugin and skill; those of an application run in this order (spec 2.2, 2.6, 2.7). */
export const PLUGINS: readonly Plugin[] = [
	{
		name: 'image_recognition',
		thought: 'The user sent an image, so I look at it first.',
		use({ question: { images, text } }) {
			if (images.length === 0 || EDIT.test(text)) return undefined;
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
		use(ask) {
			const { images, text } = ask.question;
			const [image] = images;
			if (image === undefined || !EDIT.test(text)) return undefined;
			const url = pictureUrl(ask, image);
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
		use(ask) {
			const { images, topic } = ask.question;
			if (images.length > 0 || !orders(ask, PICTURE)) return undefined;
			const url = pictureUrl(ask, 'picture');
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
		use(ask) {
			if (!orders(ask, FILM)) return undefined;
			const { topic } = ask.question;
			const taskId = `skill-${hexId(12, ask.seed, topic)}`;
			const path = cdnVideoPath({ taskId, size: '720P', aspectRatio: '16:9', seconds: 5 });
			const url = ask.origin + path;
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
		use(ask) {
			if (!orders(ask, FILE)) return undefined;
			const { topic } = ask.question;
			const url = `${ask.origin}/cdn/files/${slug(topic)}.txt`;
			return {
				input: { title: topic },
				result: url,
				content: `The file is ready: [${slug(topic)}.txt](${url})`,
			};
		},
	},
	{
		name: 'calculator',
		thought: 'There is something to work out.',
		use({ question: { text } }) {
			const sum = calculate(text);
			return sum === undefined
				? undefined
				: { input: { expression: sum.split(' = ')[0]! }, result: sum, content: `${sum}.` };
		},
	},
	{
		name: 'clock',
		thought: 'The user asks for the time.',
		use({ question: { text }, nowMs }) {
			if (!TIME.test(text)) return undefined;
			const now = new Date(nowMs).toISOString();
			return { input: { zone: 'UTC' }, result: now, content: `It is ${now} (UTC).` };
		},
	},
	{
		name: 'web_search',
		thought: 'I look this up.',
		use({ question: { text, topic } }) {
			if (!SEARCH.test(text)) return undefined;
			const result = `3 pages about ${topic}`;
			return {
				input: { query: topic },
				result,
				content: `I searched for ${topic} and read ${result}. ${capital(topic)} is described from three sides: its origin, its use today, and what comes next.`,
			};
		},
	},
	{
		name: 'deep_research',
		thought: 'This takes longer.',
		use({ question: { text, topic } }) {
			const seconds = SLOW.exec(text)?.[1];
			if (seconds === undefined) return undefined;
			return {
				input: { query: topic, seconds: Number(seconds) },
				result: `Finished after ${seconds} seconds`,
				content: `The research took ${seconds} seconds and is finished.`,
				tookMs: Number(seconds) * 1000,
			};
		},
	},
];
