import type { IExecuteFunctions } from 'n8n-workflow';

import { InputError } from '../client/errors';
import { isBlank } from '../client/values';
import { REQUEST_NAMES } from '../client/video/models';
import {
	batchingFields,
	extraBodyField,
	readCall,
	safeRetryFields,
	timeoutField,
} from '../shared/form/callOptions';
import { displayed, inTools, notInTools } from '../shared/form/fields';
import {
	changed,
	changedAll,
	choice,
	count,
	field,
	filledByModel,
	form,
	locator,
	number,
	options,
	prompt,
	toggle,
	trimmed,
	type Fields,
} from '../shared/form/form';
import { taskLedgerField } from '../shared/durable/taskTable';
import { checkKey, checkNotRounded } from '../shared/run/parameters';
import type { Run } from '../shared/run/run';
import { downloadFields, fileFields, maximumWaitField } from '../shared/wait/poll';
import { referencesField, videoFields, videoModelItems } from './modelProperties';

const first = videoModelItems()[0]!;

/** An agent decides itself how often it creates a video, so there is always a limit. */
const videosOfTool = count('Maximum Videos', {
	help: 'How many videos the agent may create in one execution, or this workflow in the Limit Period',
	default: 5,
});

const videosOfNode = number('Maximum Videos', {
	help: 'How many videos this node may create in one execution, over all its runs, or this workflow in the Limit Period. More fail before anything is sent. 0 means no limit; of an expression, 0 or less means that nothing is left.',
	default: 0,
	integer: true,
});

const sumOfCosts = number('Maximum Cost', {
	help: 'Maximum sum of the estimated costs of this node in one execution, over all its runs, or of this workflow in the Limit Period. More fails before anything is sent. Requires Price per Second. 0 means no limit; of an expression, 0 or less means that nothing is left.',
	default: 0,
});

const WAIT_OF_TOOL =
	'Whether to wait for the video and return its URL. If not, the agent gets the task_id at once, and needs Wait for Video as another tool.';

/** Fields of the wait. */
const inWait = <F extends Fields>(key: string, fields: F) =>
	changedAll((property) => displayed(property, { show: { [key]: [true] } }), fields);

/** The form of Create Video. */
export const createVideoForm = form({
	model: locator(
		'Model',
		{
			default: { mode: 'list', value: first.value, cachedResultName: first.name },
			required: true,
			help: 'The model that generates the video. The credential can list your own.',
		},
		{
			searchListMethod: 'searchVideoModels',
			placeholder: 'e.g. video-m1, or video-m1=my-model for a model that behaves like it',
		},
		(code) => code,
	),
	prompt: filledByModel(
		prompt('Prompt', {
			typeOptions: { rows: 4 },
			required: true,
			placeholder: 'e.g. A lighthouse at dawn, waves breaking slowly, filmed from a drone',
			help: 'What the video shows, and how it is filmed',
		}),
		{
			key: 'prompt',
			help: 'What the video shows and how it is filmed: subject, movement, camera, light and mood, in a sentence or two',
		},
	),
	waitUntilFinished: changed(
		toggle('Wait Until Finished', {
			help: 'Whether to wait for the video and output its file. If not, the node outputs the task_id at once: connect Wait for Video, or nobody gets the video.',
			noDataExpression: true,
		}),
		(made) => [
			notInTools(made),
			inTools({ ...made, default: true, description: WAIT_OF_TOOL }),
		],
	),
	...inWait('waitUntilFinished', downloadFields),
	references: referencesField,
	...videoFields,
	options: options({
		idempotencyKey: trimmed('Idempotency Key', {
			help: 'What the video is for, e.g. the ID of an order. The same key creates no second video, unless the first one has failed: the existing task comes out, with reused: true.',
			// An empty expression, so that nobody types one into a field of fixed text.
			default: '=',
			placeholder: 'e.g. {{ $json.order_id }}',
		}),
		useExistingVideo: toggle('Use Existing Video', {
			help: 'Whether an Idempotency Key that was used with other values gives the existing video, e.g. where a model writes each prompt again. If not, the item fails with both prompts, and nothing is sent.',
		}),
		// First the one for tools: an older n8n adds the first of two with its default, which is then a limit in both cases.
		maximumVideos: field(
			[...videosOfTool.properties.map(inTools), ...videosOfNode.properties.map(notInTools)],
			(entered) => entered,
		),
		...inWait('/waitUntilFinished', { maximumWait: maximumWaitField, ...fileFields }),
		pricePerSecond: number('Price per Second', {
			help: 'Your price of one second of video, in any currency: the output then has an estimated_cost. An expression can tell models and sizes apart. 0 means unknown.',
			default: 0,
		}),
		maximumCost: field(sumOfCosts.properties, (entered) => entered),
		limitPeriod: choice('Limit Period', {
			noDataExpression: true,
			help: 'What Maximum Videos and Maximum Cost count. Days begin in the timezone of the workflow.',
			default: 'execution',
			choices: [
				['Day', 'day', 'What all nodes of this workflow have sent today'],
				['Execution', 'execution', 'What this node has sent in this execution'],
				['Month', 'month', 'What all nodes of this workflow have sent this month'],
			],
		}),
		takeWhatFits: toggle('Take What Fits', {
			help: 'Whether the items that Maximum Videos and Maximum Cost still allow are sent where not all of them fit. The others come out with no task and the reason "limit".',
		}),
		dryRun: toggle('Dry Run', {
			help: 'Whether to check everything and output the request without sending it. A dry run is free of charge.',
		}),
		...batchingFields,
		extraBody: extraBodyField(REQUEST_NAMES),
		...safeRetryFields,
		// The service answers at once with a task.
		timeout: timeoutField(120),
		taskLedger: taskLedgerField,
	}),
});

type CreateValues = ReturnType<typeof createVideoForm.read>;

/**
 * What the options of an item say: an empty key for none, undefined for no limit, a price of 0 for none.
 *
 * @throws InputError for a limit or a key whose expression gives nothing.
 */
export function readCreateOptions(run: Run, itemIndex: number, { options: given }: CreateValues) {
	const { context } = run;
	const videos = run.isTool ? videosOfTool : videosOfNode;
	const call = readCall(run, given);
	return {
		...given,
		...call,
		idempotencyKey: readIdempotencyKey(context, itemIndex, given.idempotencyKey),
		maximumVideos: readLimit(context, itemIndex, 'maximumVideos', videos, given.maximumVideos),
		maximumCost: readLimit(context, itemIndex, 'maximumCost', sumOfCosts, given.maximumCost),
		// The calls are never sent twice within one run, whatever the option says.
		retry: { ...call.retry, retryOutcomeUnknown: false },
	};
}

/** What the option holds in the saved workflow, such as its expression; undefined if it is not added. */
function savedValue(context: IExecuteFunctions, itemIndex: number, name: string): unknown {
	const added = context.getNodeParameter('options', itemIndex, {}, { rawExpressions: true });
	return (added as Readonly<Record<string, unknown>>)[name];
}

/**
 * A limit; undefined for none. An expression says how much is left: where it gives nothing, that must not mean that there is
 * no limit, and 0 or less means that nothing is.
 */
function readLimit(
	context: IExecuteFunctions,
	itemIndex: number,
	name: string,
	{ parse, properties }: typeof sumOfCosts,
	entered: unknown,
): number | undefined {
	const saved = savedValue(context, itemIndex, name);
	if (typeof saved !== 'string' || !saved.startsWith('=')) return parse(entered) || undefined;
	if (isBlank(context.getNodeParameter(`options.${name}`, itemIndex, '')))
		throw new InputError(
			properties[0]!.displayName,
			'is empty',
			'Enter an expression that returns a number for every item; 0 means that nothing is left',
		);
	return Number(entered) <= 0 ? 0 : parse(entered);
}

/** The key as a data table stores it. An expression that gives no key must not create a video that nothing protects. */
function readIdempotencyKey(
	context: IExecuteFunctions,
	itemIndex: number,
	entered: string,
): string {
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
	checkNotRounded(context, itemIndex, 'options.idempotencyKey', 'Idempotency Key');
	// PostgreSQL takes no NUL character; half a surrogate pair comes back as U+FFFD. File names of macOS have é as two characters.
	const key = Buffer.from(entered.replaceAll('\0', '')).toString();
	if (key !== '') return checkKey(key, 'Idempotency Key');
	throw new InputError(
		'Idempotency Key',
		'is empty',
		'Enter an expression that returns a text for every item, or remove the option',
	);
}
