import type { VideoRequest } from './createVideo';
import type { ImageMode, VideoModel } from './models';

export type ReferenceKind = 'image' | 'video' | 'audio';

/** A kind of file that a video can be made from. */
export interface ReferenceRow {
	readonly kind: ReferenceKind;
	/** Field name in the request (spec 2.8). */
	readonly apiName: 'images' | 'videos' | 'audios';
	readonly label: string;
	readonly one: string;
	readonly several: string;
	/** Most files of the kind for any model (spec 8). */
	readonly most: number;
	/** Most files of the kind that a model takes, in the image mode given. */
	readonly maxOf: (model: VideoModel, imageMode: string | undefined) => number;
}

/** Every kind of reference file, with its caps (spec 2.8, 2.11). */
export const REFERENCES: readonly ReferenceRow[] = [
	{
		kind: 'image',
		apiName: 'images',
		label: 'Images',
		one: 'image',
		several: 'images',
		most: 9,
		maxOf: ({ imageModes }, imageMode) =>
			imageModes[imageMode as ImageMode] ?? Math.max(0, ...Object.values(imageModes)),
	},
	{
		kind: 'video',
		apiName: 'videos',
		label: 'Videos',
		one: 'video',
		several: 'videos',
		most: 3,
		maxOf: ({ maxVideos }) => maxVideos,
	},
	{
		kind: 'audio',
		apiName: 'audios',
		label: 'Audios',
		one: 'audio file',
		several: 'audio files',
		most: 3,
		maxOf: ({ maxAudios }) => maxAudios,
	},
];

/** A file to make the video from. */
export interface Reference {
	readonly kind: ReferenceKind;
	/** Address that is open to the service. */
	readonly url: string;
}

/** The files by the request's field names, each kind in its order; kinds without a file are left out. */
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

/** How many files of a kind go out: what the model takes, or what the service takes where the model is not one of ours. */
export function maxReferences(
	row: ReferenceRow,
	model: VideoModel | undefined,
	imageMode: string | undefined,
): number {
	return model === undefined ? row.most : row.maxOf(model, imageMode);
}

/** So many files of a kind, in words. */
export function countOf({ one, several }: ReferenceRow, count: number): string {
	return count === 1 ? `1 ${one}` : `${count} ${several}`;
}
