import type { IExecuteFunctions, INodeProperties } from 'n8n-workflow';

import {
	filledByModel,
	inTools,
	notInTools,
	resourceLocator,
	textField,
} from '../shared/form/fields';
import {
	videoModelItems,
	videoProperties,
	videoReferences,
	videoToolProperties,
} from './modelProperties';
import { waitFields, waitOptions } from './wait';
import { InputError } from '../client/errors';
import { isBlank } from '../client/values';
import type { UnsupportedValues } from '../client/video/videoRequest';
import {
	batching,
	readSafeRetry,
	safeRetryGroup,
	timeoutOptions,
} from '../shared/form/callOptions';
import {
	booleanOption,
	choiceOption,
	countOption,
	numberOption,
	optionsProperty,
	optionTable,
	propertiesOf,
	readOptions,
	textOption,
} from '../shared/form/options';
import { ledgerOptions } from '../shared/ledger/ledgerOption';
import { isToolRun } from '../shared/run/nodeContext';
import { checkKey } from '../shared/run/parameters';

/** The options without a special case, by their names in the form. */
const plainOptions = optionTable({
	pricePerSecond: numberOption('Price per Second', {
		help: 'Your price of one second of video, in any currency: the output then has an estimated_cost. An expression can tell models and sizes apart. 0 means unknown.',
		default: 0,
	}),
	maximumCost: numberOption('Maximum Cost', {
		help: 'Maximum sum of the estimated costs in one execution of the workflow, over all runs of this node. More fails before anything is sent. Requires Price per Second. 0 means no limit.',
		default: 0,
	}),
	dryRun: booleanOption('Dry Run', {
		help: 'Whether to check everything and output the request without sending it. A dry run is free of charge.',
		isStrict: true,
	}),
	unsupportedValues: choiceOption<UnsupportedValues>('Unsupported Values', {
		help: 'What to do with a value that the model would change or ignore',
		default: 'adjust',
		choices: [
			['Adjust and Report', 'adjust', 'Send the closest value, listed in "adjustments"'],
			['Reject', 'reject', 'Fail the item before anything is sent'],
		],
	}),
});

const { idempotencyKey, maximumVideos } = optionTable({
	idempotencyKey: textOption('Idempotency Key', {
		help: 'What the video is for, e.g. the ID of an order. The same key never creates a second video in this project: the existing task comes out, with reused: true.',
		// An expression, so that nobody types one into a field of fixed text.
		default: '={{ $json.id }}',
		fallback: '',
		placeholder: 'e.g. {{ $json.order_id }}',
	}),
	maximumVideos: numberOption('Maximum Videos', {
		help: 'How many videos this node may create in one execution of the workflow, over all its runs. More fail before anything is sent. 0 means no limit.',
		default: 0,
		integer: true,
	}),
});

/** An agent decides itself how often it creates a video, so there is always a limit. */
const toolOptions = optionTable({
	maximumVideos: countOption('Maximum Videos', {
		help: 'How many videos the agent may create in one execution, because each of them costs money',
		default: 5,
	}),
});

/** The service answers at once with a task; a minute without any data means that something is broken. */
const createTimeouts = timeoutOptions({ idle: 60, total: 120 });

/** The options of Create Video. */
export const createVideoOptions: INodeProperties = optionsProperty([
	idempotencyKey.property,
	// First the one for tools: an older n8n adds the first of two with its default, which is then a limit in both cases.
	inTools(toolOptions.maximumVideos.property),
	notInTools(maximumVideos.property),
	...waitOptions,
	...propertiesOf(plainOptions),
	batching.property,
	safeRetryGroup.property,
	createTimeouts.property,
	ledgerOptions.taskLedger.property,
]);

export type CreateVideoOptions = ReturnType<typeof readCreateOptions>;

/**
 * The options of an item: an empty key for none, a limit or price of 0 for none.
 *
 * @throws InputError when one of them is out of range.
 */
export function readCreateOptions(context: IExecuteFunctions, itemIndex: number) {
	const videos = isToolRun(context) ? toolOptions.maximumVideos : maximumVideos;
	checkLimitGiven(context, itemIndex, 'maximumVideos', 'Maximum Videos');
	checkLimitGiven(context, itemIndex, 'maximumCost', 'Maximum Cost');
	return {
		...readOptions(plainOptions, context, itemIndex),
		idempotencyKey: readIdempotencyKey(context, itemIndex),
		maximumVideos: videos.read(context, itemIndex),
		retry: readSafeRetry(context, itemIndex),
		retryOutcomeUnknown: safeRetryGroup.options.retryOutcomeUnknown.read(context, itemIndex),
		...createTimeouts.read(context, itemIndex),
	};
}

/** What the option holds in the saved workflow, such as its expression; undefined if it is not added. */
function savedValue(context: IExecuteFunctions, itemIndex: number, name: string): unknown {
	const added = context.getNodeParameter('options', itemIndex, {}, { rawExpressions: true });
	return (added as Readonly<Record<string, unknown>>)[name];
}

/** A limit whose expression gives nothing must not mean that there is none. */
function checkLimitGiven(
	context: IExecuteFunctions,
	itemIndex: number,
	name: string,
	label: string,
): void {
	const saved = savedValue(context, itemIndex, name);
	if (typeof saved !== 'string' || !saved.startsWith('=')) return;
	if (!isBlank(context.getNodeParameter(`options.${name}`, itemIndex, ''))) return;
	throw new InputError(
		label,
		'is empty',
		'Enter an expression that returns a number for every item; 0 means no limit',
	);
}

/** The key as a data table stores it. An expression that gives no key must not create a video that nothing protects. */
function readIdempotencyKey(context: IExecuteFunctions, itemIndex: number): string {
	const saved = savedValue(context, itemIndex, 'idempotencyKey');
	if (saved === undefined) return '';
	// Typed as fixed text it would be one key for all items, and create one video for all of them.
	if (typeof saved === 'string' && !saved.startsWith('=') && saved.includes('{{')) {
		throw new InputError(
			'Idempotency Key',
			`is the text ${saved}, the same for every item`,
			'Switch the field from Fixed to Expression',
		);
	}
	const entered = idempotencyKey.read(context, itemIndex);
	// PostgreSQL takes no NUL character; half a surrogate pair comes back as U+FFFD.
	const key = Buffer.from(entered.replaceAll('\0', '')).toString();
	if (key !== '') return checkKey(key, 'Idempotency Key');
	throw new InputError(
		'Idempotency Key',
		'is empty',
		'Enter an expression that returns a text for every item, or remove the option',
	);
}

const first = videoModelItems()[0]!;

/** The form of Create Video. */
export const createVideoProperties: INodeProperties[] = [
	resourceLocator(
		{
			displayName: 'Model',
			name: 'model',
			default: { mode: 'list', value: first.value, cachedResultName: first.name },
			required: true,
			description: 'The model that generates the video. The credential can list your own.',
		},
		{
			searchListMethod: 'searchVideoModels',
			placeholder: 'e.g. video-m1, or video-m1=my-model for a model that behaves like it',
		},
	),
	...filledByModel(
		textField('Prompt', 'prompt', {
			typeOptions: { rows: 4 },
			required: true,
			placeholder: 'e.g. A lighthouse at dawn, waves breaking slowly, filmed from a drone',
			description: 'What the video shows, and how it is filmed',
		}),
		{
			key: 'prompt',
			help: 'What the video shows and how it is filmed: subject, movement, camera, light and mood, in a sentence or two',
		},
	),
	...videoReferences,
	...videoProperties,
	...videoToolProperties,
	...waitFields,
	createVideoOptions,
];
