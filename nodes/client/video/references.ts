import type { VideoRequest } from './createVideo';
import type { ImageMode, VideoModel } from './models';

export type ReferenceKind = 'image' | 'video' | 'audio';

/** A kind of reference file. */
export interface ReferenceRow {
	readonly kind: ReferenceKind;
	/** Field name in the request (spec 2.8). */
	readonly apiName: `${ReferenceKind}s`;
	readonly label: string;
	readonly noun: string;
	/** Maximum number of files of this kind for any model (spec 8). */
	readonly max: number;
	/** Maximum number of files of this kind for a model, in the given image mode. */
	readonly maxOf: (model: VideoModel, imageMode: string | undefined) => number;
}

const maxImages: ReferenceRow['maxOf'] = ({ imageModes }, imageMode) =>
	imageModes[imageMode as ImageMode] ?? Math.max(0, ...Object.values(imageModes));

const row = (
	kind: ReferenceKind,
	more: Pick<ReferenceRow, 'label' | 'noun' | 'max' | 'maxOf'>,
): ReferenceRow => ({ kind, apiName: `${kind}s`, ...more });

/** Every kind of reference file, with its limits (spec 2.8, 2.11). */
export const REFERENCES: readonly ReferenceRow[] = [
	row('image', { label: 'Images', noun: 'image', max: 9, maxOf: maxImages }),
	row('video', { label: 'Videos', noun: 'video', max: 3, maxOf: (model) => model.maxVideos }),
	row('audio', {
		label: 'Audios',
		noun: 'audio file',
		max: 3,
		maxOf: (model) => model.maxAudios,
	}),
];

/** A reference file. */
export interface Reference {
	readonly kind: ReferenceKind;
	/** Public URL of the file. */
	readonly url: string;
}

/** The URLs by request field, in their order; a kind without a file has no field. */
export function referenceFields(
	references: readonly Reference[],
): Pick<VideoRequest, 'images' | 'videos' | 'audios'> {
	const urlsOf = (kind: ReferenceKind) =>
		references.filter((reference) => reference.kind === kind).map(({ url }) => url);
	return Object.fromEntries(
		REFERENCES.map(({ kind, apiName }) => [apiName, urlsOf(kind)] as const).filter(
			([, urls]) => urls.length > 0,
		),
	);
}

/** Maximum number of files of a kind: the model's, or the service's for a model that is not in the table. */
export function maxReferences(
	row: ReferenceRow,
	model: VideoModel | undefined,
	imageMode?: string,
): number {
	return model === undefined ? row.max : row.maxOf(model, imageMode);
}
