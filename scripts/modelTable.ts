import type { VideoModel } from '../nodes/client/video/models';
import { markdownTable } from './markdownTable';

const HEAD = ['model', 'aspect ratio', 'seconds', 'size or mode', 'files', 'sound'];
const NONE = '';

/** The video models as a Markdown table: the values that each accepts, its defaults first and in bold. */
export function modelTable(models: readonly VideoModel[]): string {
	return markdownTable(
		HEAD,
		models.map((model) => [
			code(model.code),
			valueList(model.aspectRatios.map(code)),
			valueList(defaultFirst(model.durations, model.defaultDuration).map(String)),
			[model.sizes, model.modes]
				.map((values) => valueList(values.map(code)))
				.join(' ')
				.trim(),
			[
				...Object.entries(model.imageModes).map(
					([mode, maximum]) => `${code(mode)} ${maximum}`,
				),
				...countOf('videos', model.maxVideos),
				...countOf('audios', model.maxAudios),
			].join(', '),
			model.generatesAudio ? 'yes' : NONE,
		]),
	);
}

const code = (value: string) => `\`${value}\``;

const countOf = (kind: string, count: number) => (count === 0 ? [] : [`${kind} ${count}`]);

function defaultFirst<T>(values: readonly T[], defaultValue: T | undefined): readonly T[] {
	return values.toSorted((a, b) => Number(b === defaultValue) - Number(a === defaultValue));
}

/** The first value is the default. */
function valueList([first, ...others]: readonly string[]): string {
	return first === undefined ? NONE : [`**${first}**`, ...others].join(' ');
}
