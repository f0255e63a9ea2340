import type { INodeProperties } from 'n8n-workflow';

import { VIDEO_MODELS, type VideoModel } from '../client/video/models';
import { countOf, maxReferences, REFERENCES, type ReferenceRow } from '../client/video/references';
import { fileSource } from '../shared/files/fileSource';
import { forModel, forOtherModels } from './modelProperties';

const TITLES = { image: 'Image', video: 'Video', audio: 'Audio' } as const;

/** The files to make a video from: for each model with the kinds and numbers that it takes. */
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
		`Files to make the video from, at most ${counts}.`,
		'As first and last frame, images count in this order.',
		...(has('audio')
			? [
					'Audio needs an image or a video beside it.',
					'Videos and audio together may last 15 seconds, the rest is cut off.',
				]
			: []),
		...(model?.editsVideos === true
			? [
					'A video is edited: it keeps its length and sound, and may last 15 seconds, the rest is cut off.',
				]
			: []),
	].join(' ');
}

function most(row: ReferenceRow, model: VideoModel | undefined): number {
	return maxReferences(row, model, undefined);
}
