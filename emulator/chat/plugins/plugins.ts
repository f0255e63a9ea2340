import { unescape } from 'node:querystring';
import { hexId } from '../../random';
import { fillTemplate } from '../../script/fillTemplate';
import { cdnVideoPath, slug } from '../../video/cdnVideo';
import { calculate } from '../generation/calculate';
import { capitalize, languageOf, LANGUAGES, match } from '../generation/language';
import type { Question } from '../generation/question';
import PLUGINS from './pluginRows.json';

/** Input of a plugin. */
export interface PluginContext {
	readonly question: Question;
	/** Origin of the service, for links to generated files. */
	readonly origin: string;
	readonly seed: number;
}

/** Result of a plugin, or of a skill of a super assistant (spec 1, 2.6, 2.7). */
export interface PluginRun {
	readonly name: string;
	readonly thought: string;
	readonly input: Readonly<Record<string, unknown>>;
	/** Result for the model. */
	readonly result: string;
	/** Text of the reply to the user. */
	readonly content: string;
	/** Duration of the run; undefined for the default. */
	readonly durationMs?: number;
}

/** When a plugin runs, and its texts: for the model, and for the user in each language. */
interface PluginRow extends Pick<PluginRun, 'name' | 'thought' | 'input' | 'result'> {
	readonly asked?: string;
	readonly not?: string;
	/** Whether the question must be an order, such as "draw". */
	readonly order?: boolean;
	/** Whether the question must have images, or must have none. */
	readonly images?: boolean;
	/** A value that must not be empty. */
	readonly needs?: string;
	readonly content: readonly string[];
}

const nameOf = (text: string): string => slug(text, 40).toLowerCase() || 'result';

/** Subject of an image, from the file name in its URL: `…/red-fox_2.jpg` → `red fox 2`. */
export function imageName(url: string): string {
	const file = new URL(url).pathname.split('/').at(-1) ?? '';
	const words = unescape(file)
		.replace(/\.\w+$/, '')
		.replace(/[-_+.%]+/g, ' ');
	return words.trim() || new URL(url).hostname;
}

/** Values of the placeholders in the texts of a plugin. */
function valuesOf({ question, origin, seed }: PluginContext) {
	const { topic, text, images, nowMs } = question;
	const [image = ''] = images;
	const imageUrl = (name: string) =>
		`${origin}/cdn/images/${nameOf(topic)}-${hexId(8, seed, name, topic)}.jpg`;
	const sum = calculate(text) ?? '';
	const taskId = `skill-${hexId(12, seed, topic)}`;
	const video = { size: '720P', aspectRatio: '16:9', seconds: 5, words: topic } as const;
	return {
		...{ topic, Topic: capitalize(topic), text, images, image, sum },
		names: images.map(imageName).join(languageOf(text).and),
		imageName: image && imageName(image),
		imageUrl: imageUrl('picture'),
		editedUrl: imageUrl(image),
		videoUrl: origin + cdnVideoPath({ taskId, ...video }),
		file: nameOf(topic),
		fileUrl: `${origin}/cdn/files/${nameOf(topic)}.txt`,
		expression: sum.split(' = ', 1).join(''),
		now: new Date(nowMs).toISOString(),
	};
}

/** Runs the enabled plugins or skills that match the question, in the order of their rows. */
export function runMatching(
	enabled: readonly string[],
	context: PluginContext,
): readonly PluginRun[] {
	const { text, images } = context.question;
	const isOrder = match(PLUGINS.order, text) !== null && !match(PLUGINS.notOrder, text);
	const rows: readonly PluginRow[] = PLUGINS.rows;
	return rows.flatMap(({ name, thought, asked = '', input, result, content, ...when }) => {
		const found = match(asked, text);
		if (!enabled.includes(name) || !found || (when.order && !isOrder)) return [];
		if (when.not !== undefined && match(when.not, text)) return [];
		if (when.images !== undefined && when.images !== images.length > 0) return [];
		// Trigger word `slow-120`: the skill takes 120 seconds.
		const seconds = Number(found[1] ?? 0);
		const values: Readonly<Record<string, unknown>> = { ...valuesOf(context), seconds };
		if (when.needs !== undefined && values[when.needs] === '') return [];
		const said = content[LANGUAGES.indexOf(languageOf(text))]!;
		const filled = fillTemplate({ input, result, content: said }, values);
		return [{ name, thought, ...filled, ...(seconds > 0 && { durationMs: seconds * 1000 }) }];
	});
}
