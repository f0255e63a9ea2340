import type { INodeProperties } from 'n8n-workflow';

import { VIDEO_MODELS, type VideoModel } from '../client/video/models';
import { countOf, maxReferences, REFERENCES, type ReferenceRow } from '../client/video/references';
import { fileSource } from '../shared/files/fileSource';
import { entriesField, listField } from '../shared/form/fields';
import { forModel, forOtherModels } from './modelProperties';

const TITLES = { image: 'Image', video: 'Video', audio: 'Audio' } as const;

/** The reference files: for each model the kinds and counts that it supports. */
export const videoReferences: INodeProperties[] = [
	...VIDEO_MODELS.map((model) => forModel(references(model), model)),
	forOtherModels(references(undefined)),
];

function references(model: VideoModel | undefined): INodeProperties {
	const rows = REFERENCES.filter((row) => maxReferences(row, model) > 0);
	const choices = rows.map(({ kind }) => [TITLES[kind], kind] as const);
	const kinds = listField('Kind', 'kind', { choices, default: 'image' });
	// The only kind is no choice, but kept: the video of another model must not become an image.
	if (rows.length === 1) kinds.type = 'hidden';
	return entriesField('References', 'references', {
		typeOptions: { sortable: true },
		description: help(rows, model),
		entry: ['File', 'file', [kinds, ...fileSource]],
	});
}

function help(rows: readonly ReferenceRow[], model: VideoModel | undefined): string {
	const counts = rows.map((row) => countOf(row, maxReferences(row, model))).join(', ');
	const has = (kind: string) => rows.some((row) => row.kind === kind);
	return [
		`Reference files, at most ${counts}.`,
		(model === undefined || (model.imageModes.first_last_frame ?? 0) > 1) &&
			'In first and last frame mode, the order of the images matters.',
		has('audio') &&
			'Audio requires an image or a video. Videos and audio are cut off after 15 seconds in total.',
		model?.editsVideos === true &&
			'A video is edited: it keeps its length and sound, and is cut off after 15 seconds.',
	]
		.filter(Boolean)
		.join(' ');
}
