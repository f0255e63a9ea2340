import type { DisplayCondition, INodeListSearchItems, INodeProperties } from 'n8n-workflow';

import { counted } from '../client/values';
import {
	defaultOf,
	findModel,
	maxReferences,
	REFERENCES,
	VIDEO_FIELDS,
	VIDEO_MODELS,
	type OwnModel,
	type ReferenceRow,
	type VideoField,
	type VideoModel,
} from '../client/video/models';

import { fileSource, type FileEntry } from '../shared/files/fileSource';
import {
	displayed,
	fromAi,
	type FromAiArgument,
	inTools,
	notInTools,
	property,
} from '../shared/form/fields';
import { changed, choice, entries, field } from '../shared/form/form';
import { oneName } from '../shared/run/parameters';

const MODELS: readonly VideoModel[] = VIDEO_MODELS;
/** The models in the list of the editor: those of the account, or else those of the specification. */
export function videoModelItems(own: readonly OwnModel[] = []): INodeListSearchItems[] {
	const models = own.length > 0 ? own : MODELS.map(({ code }) => ({ code, like: code }));
	return models.map(({ code, like }) => ({
		name: `${code}: ${findModel({ code, like })?.input ?? like}`,
		// The row comes first: the form can find it by comparing.
		value: code === like ? code : `${like}=${code}`,
	}));
}

/** Comes after every other character that a code has. */
const LAST = '\uFFFF';

/** Shows the field only for one row of the table: for its code, and for the pairs that begin with it (`readPair`). */
function forModel(field: INodeProperties, { code }: VideoModel): INodeProperties {
	// Uses hide instead of show: n8n ignores a show condition on a parameter that holds an expression. Compares texts,
	// because n8n starts a sandbox with a time limit for each test of a regular expression.
	const model = [
		{ _cnd: { lt: code } },
		{ _cnd: { between: { from: `${code}\0`, to: `${code}<${LAST}` } } },
		{ _cnd: { gt: `${code}=${LAST}` } },
	];
	return { ...field, displayOptions: { hide: { model } } };
}

/** Shows the field only for a model that is typed or comes from an expression. */
function forOtherModels(field: INodeProperties): INodeProperties {
	const model = MODELS.flatMap(({ code }) => [code, { _cnd: { startsWith: `${code}=` } }]);
	return { ...field, displayOptions: { hide: { model } } };
}

/** References without files. n8n compares such values deeply, though its type has simple ones only. */
const NO_FILES: object[] = [{ _cnd: { eq: {} } }, { _cnd: { eq: { file: [] } } }];

/** Shows the field only where there are reference files. While the node runs n8n does not look at these, and has the field always. */
const withFiles = (field: INodeProperties) =>
	displayed(field, { hide: { references: NO_FILES as DisplayCondition[] } });

/** The fields that an agent's model fills. It reads in an error what the video model takes instead. */
const FROM_AI: Readonly<Partial<Record<string, FromAiArgument>>> = {
	aspectRatio: {
		key: 'aspect_ratio',
		help: 'Width to height: 16:9 for landscape, 9:16 for portrait, 1:1 for square',
		fallback: '16:9',
	},
	duration: {
		key: 'duration',
		help: 'Length of the video in seconds; 0 for the default length',
		type: 'number',
		fallback: '0',
	},
};

/** What a field without a list of values is, by its type. */
const FREE: Readonly<Record<VideoField['type'], Omit<INodeProperties, 'displayName' | 'name'>>> = {
	text: { type: 'string', default: '', hint: 'Empty uses the default of the model' },
	seconds: {
		type: 'number',
		default: 0,
		typeOptions: { minValue: 0 },
		hint: '0 uses the default of the model',
	},
	flag: {
		type: 'options',
		options: [
			{ name: "Model's Default", value: '' },
			{ name: 'No', value: false },
			{ name: 'Yes', value: true },
		],
		default: '',
	},
};

/** Labels of values; others are shown as they are. */
const NAMES: Readonly<Record<string, string>> = {
	std: 'Standard (720P)',
	pro: 'Pro (1080P)',
	reference: 'Reference',
	first_last_frame: 'First and Last Frame',
};

/**
 * The fields whose values depend on the model: a list of values for each model that supports the field, and a free
 * field for a model that is typed or comes from an expression. An agent's model fills some when the node is its tool.
 */
export const videoFields = Object.fromEntries(
	VIDEO_FIELDS.map((row) => {
		const models = MODELS.filter((model) => row.values(model).length > 0);
		const argument = FROM_AI[row.key];
		const properties = [
			...models.map((model) => forModel(propertyOf(row, model), model)),
			forOtherModels(free(row)),
		];
		const shownOnes = properties.map((each) => (row.needsFiles ? withFiles(each) : each));
		const all = argument
			? [...shownOnes.map(notInTools), inTools({ ...free(row), default: fromAi(argument) })]
			: shownOnes;
		return [row.key, field(all, (entered) => oneName(entered, row.label))];
	}),
);

function propertyOf(row: VideoField, model: VideoModel): INodeProperties {
	const { label, help, type } = row;
	const initial = defaultOf(row, model) ?? '';
	if (type === 'flag') return property('boolean', label, { help, default: initial });
	const nameOf = (value: string) =>
		type === 'seconds' ? `${value} Seconds` : (NAMES[value] ?? value);
	const options = row.values(model).map((value) => ({ name: nameOf(String(value)), value }));
	// The only value is no choice, but it is sent.
	const kind = options.length === 1 ? 'hidden' : 'options';
	return property(kind, label, { help, options, default: initial });
}

function free(row: VideoField): INodeProperties {
	const { label, help, type } = row;
	const [example] = MODELS.flatMap((model) => defaultOf(row, model) ?? []);
	const placeholder = `e.g. ${example}`;
	return {
		...property('string', label, { help }),
		...FREE[type],
		...(type !== 'flag' && { placeholder }),
	};
}

const TITLES = { image: 'Image', video: 'Video', audio: 'Audio' } as const;

/** The reference files: for each model the kinds and counts that it supports. */
export const referencesField = changed(references(undefined), (property) => [
	...MODELS.flatMap((model) => references(model).properties.map((each) => forModel(each, model))),
	forOtherModels(property),
]);

function references(model: VideoModel | undefined) {
	const rows = REFERENCES.filter((row) => maxReferences(row, model) > 0);
	const choices = rows.map(({ kind }) => [TITLES[kind], kind] as const);
	const kind = changed(choice('Kind', { choices, default: 'image' }), (property) =>
		// The only kind is no choice, but kept: the video of another model must not become an image.
		rows.length === 1 ? { ...property, type: 'hidden' } : property,
	);
	return entries<FileEntry>('References', {
		typeOptions: { sortable: true },
		help: help(rows, model),
		entry: ['File', 'file', { kind, ...fileSource }],
	});
}

function help(rows: readonly ReferenceRow[], model: VideoModel | undefined): string {
	const counts = rows.map((row) => counted(maxReferences(row, model), row.noun)).join(', ');
	const has = (kind: string) => rows.some((row) => row.kind === kind);
	const sentences = [
		`Reference files, at most ${counts}`,
		(model === undefined || (model.imageModes.first_last_frame ?? 0) > 1) &&
			'In first and last frame mode, the order of the images matters',
		has('audio') &&
			'Audio requires an image or a video. Videos and audio are cut off after 15 seconds in total',
		model?.editsVideos === true &&
			'A video is edited: it keeps its length and sound, and is cut off after 15 seconds',
	].filter(Boolean);
	return sentences.join('. ') + (sentences.length > 1 ? '.' : '');
}

/** What the form has for each model, for an AI that builds workflows: n8n shows it the fields of the first model only. */
export const valuesByModel: readonly string[] = [
	'Each model has other values, whatever @displayOptions say; the first is the default. A code of the account has those of the model that it behaves like.',
	...MODELS.map((model) => {
		const fields = VIDEO_FIELDS.filter((row) => row.values(model).length > 0).map((row) =>
			[row.key, ...new Set([defaultOf(row, model), ...row.values(model)])].join(' '),
		);
		return `${model.code}: ${fields.join(', ')}. ${references(model).properties[0]!.description}`;
	}),
];

/** Where the form has what a request calls otherwise. Not `mode`, whose values the host would list as actions. */
export const REQUEST_PLACES = Object.fromEntries(
	[
		...REFERENCES.map(({ apiName }) => [apiName, 'references'] as const),
		...VIDEO_FIELDS.map(({ apiName, key }) => [apiName, key] as const),
	].filter(([name]) => name !== 'mode'),
);
