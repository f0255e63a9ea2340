import type { INodeProperties } from 'n8n-workflow';

import { VIDEO_MODELS, type VideoModel } from '../client/video/models';
import { countOf, maxReferences, REFERENCES, type ReferenceRow } from '../client/video/references';
import { fileSource } from '../shared/files/fileSource';
import { forModel, forOtherModels } from './modelProperties';

const TITLES = { image: 'Image', video: 'Video', audio: 'Audio' } as const;

/** The reference files: for each model the kinds and counts that it supports. */
export const videoReferences: INodeProperties[] = [
	...VIDEO_MODELS.map((model) => forModel(references(model), model)),
	forOtherModels(references(undefined)),
];

function references(model: VideoModel | undefined): INodeProperties {
	const rows = REFERENCES.filter((row) => most(row, model) > 0);
	return {
		displayName: 'References',
		name: 'references',
		type: 'fixedCollection',
		typeOptions: { multipleValues: true, sortable: true },
		placeholder: 'Add File',
		default: {},
		description: help(rows, model),
		options: [
			{
				displayName: 'File',
				name: 'file',
				values: [
					{
						displayName: 'Kind',
						name: 'kind',
						type: 'options',
						options: rows.map(({ kind }) => ({ name: TITLES[kind], value: kind })),
						default: 'image',
					},
					...fileSource,
				],
			},
		],
	};
}

function help(rows: readonly ReferenceRow[], model: VideoModel | undefined): string {
	const counts = rows.map((row) => countOf(row, most(row, model))).join(', ');
	const has = (kind: string) => rows.some((row) => row.kind === kind);
	return [
		`Reference files, at most ${counts}.`,
		'In first and last frame mode, the order of the images matters.',
		...(has('audio')
			? [
					'Audio requires an image or a video.',
					'Videos and audio are cut off after 15 seconds in total.',
				]
			: []),
		...(model?.editsVideos === true
			? ['A video is edited: it keeps its length and sound, and is cut off after 15 seconds.']
			: []),
	].join(' ');
}

function most(row: ReferenceRow, model: VideoModel | undefined): number {
	return maxReferences(row, model, undefined);
}
