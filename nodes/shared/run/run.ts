import {
	accumulateTokenUsage,
	CHAT_NODE_TYPE,
	CHAT_TRIGGER_NODE_TYPE,
	FORM_TRIGGER_NODE_TYPE,
	NodeConnectionTypes,
	WEBHOOK_NODE_TYPE,
	type IBinaryData,
	type IExecuteFunctions,
	type INode,
	type INodeExecutionData,
} from 'n8n-workflow';

import { settled, valueOf } from '../../client/concurrency';
import { objectOf } from '../../client/json';
import { n8nClock } from '../engine/context';
import { onTable, type Step, type TableSchema } from '../engine/dataTable';
import {
	hintsOf,
	isPassedOn,
	isToolRun,
	isTriedAgain,
	itemsAt,
	restoreSources,
	runDataOf,
	runsOf,
	type RunRef,
} from '../engine/runs';
import { workflowOf } from '../engine/workflow';
import { n8nHttp, readNode, serviceOf, type Reading } from './host';
import {
	joinedAttributes,
	nodeState,
	toHint,
	type Attributes,
	type NodeContext,
	isToolCall,
} from './nodeContext';
import { maskIn, NO_MASK } from './secrets';

/** The triggers behind which somebody waits for what the workflow says, and whether such a node has such a reader. */
const WAITING: Readonly<Record<string, (trigger: INode) => boolean>> = {
	[CHAT_TRIGGER_NODE_TYPE]: () => true,
	[FORM_TRIGGER_NODE_TYPE]: () => true,
	// Without a mode n8n answers at once, before the workflow has run.
	[WEBHOOK_NODE_TYPE]: ({ parameters: { responseMode = 'onReceived' } }) =>
		responseMode !== 'onReceived',
};

/** The triggers that have run in this execution. */
function triggersOf(context: IExecuteFunctions): INode[] {
	const { nodes } = workflowOf(context);
	return Object.keys(runDataOf(context) ?? {}).flatMap((name) => {
		const trigger = nodes[name];
		return trigger !== undefined && trigger.type in WAITING ? [trigger] : [];
	});
}

/**
 * What the visitor of a chat has sent: the first item of each run of the Chat Trigger that has started this execution, then what
 * n8n's Chat node has made of later messages. What this one passes on as it received it may be a choice of the workflow.
 */
function chatMessages(context: IExecuteFunctions): INodeExecutionData[] {
	const { nodes } = workflowOf(context);
	const runs = runDataOf(context) ?? {};
	const runsOfType = (type: string) =>
		Object.entries(runs).flatMap(([node, each]) =>
			nodes[node]?.type === type ? each.map((_, run) => ({ node, run, output: 0 })) : [],
		);
	const later = runsOfType(CHAT_NODE_TYPE).filter((ref) => !isPassedOn(runs, ref));
	// In the retry of a crashed execution, n8n has invented the first run.
	const first = (ref: RunRef) => itemsAt(runs, ref)?.[0] ?? [];
	return [
		...runsOfType(CHAT_TRIGGER_NODE_TYPE).flatMap(first),
		// Version 1.1 puts the message into `data`.
		...later.flatMap(first).map(({ json, ...item }) => ({
			...item,
			json: { ...objectOf(json['data']), ...json },
		})),
	];
}

/** Who reads the texts of a run, and where. */
interface Reader {
	/**
	 * The model whose tool it is; a visitor: who waits for the chat, form or response that has started the execution; or the owner
	 * of the workflow, who also reads what is run in the editor. In n8n's *Retry* nobody waits any more.
	 */
	readonly reader: 'model' | 'visitor' | 'owner';
	/** Whether the trigger streams. */
	readonly isStreamed: boolean;
	/** Whether somebody waits for the texts, also in the editor. */
	readonly isAwaited: boolean;
	/** Whether a page draws replies, whose browser loads images unasked. What a webhook answers when the workflow has run is data. */
	readonly isDrawn: boolean;
}

/** Who reads the texts of this run. */
export function readerOf(context: NodeContext): Reader {
	// n8n's type of a sub-node lacks what its context has. That of n8n 2.20 has no such method.
	const run = context as IExecuteFunctions;
	const { isStreaming } = context as Partial<IExecuteFunctions>;
	const isStreamed = isStreaming?.call(context) === true;
	if (isToolRun(context) || isToolCall(run))
		return { reader: 'model', isStreamed, isAwaited: false, isDrawn: false };
	const mode = context.getMode();
	const triggers = mode === 'retry' ? [] : triggersOf(run);
	const isAwaited = isStreamed || triggers.some((each) => WAITING[each.type]!(each));
	const isDrawn = isStreamed || triggers.some(({ type }) => type !== WEBHOOK_NODE_TYPE);
	const reader = isAwaited && mode !== 'manual' ? 'visitor' : 'owner';
	return { reader, isStreamed, isAwaited, isDrawn };
}

/** One run of a node: what its functions need of n8n, read once. */
export type Run = Awaited<ReturnType<typeof openRun>>;

/**
 * Opens the run of a node. The credential is read once, as n8n would load and decrypt it for every request.
 *
 * @param known The `reading` of the run that has begun what this one goes on with.
 */
export async function openRun(given: NodeContext, known?: Reading) {
	// n8n's type of a sub-node lacks what its context has.
	const context = given as IExecuteFunctions;
	restoreSources(context);
	const reader = readerOf(context);
	const node = context.getNode();
	const isTool = isToolRun(context);
	const read = known ? { value: known } : await settled(readNode(context));
	const service =
		'value' in read ? { value: serviceOf(n8nHttp(context, read.value), read.value) } : read;
	const { mask, keys } = 'value' in service ? service.value : { mask: NO_MASK, keys: [] };
	const withoutSecrets = <T>(value: T) => maskIn(value, mask);
	const mentioned = new Set<string>();
	const reading = 'value' in read ? read.value : undefined;
	let mistake = reading?.mistake;
	const hint = (message: string, type?: 'info' | 'warning') => {
		const said = toHint(withoutSecrets(message), type);
		const isNew = hintsOf(context).every((each) => each.message !== said.message);
		if (isNew) context.addExecutionHints(said);
	};
	return {
		/** What n8n gives to the node, for its tables, files and errors. */
		context,
		node,
		workflowId: context.getWorkflow().id ?? '',
		/** Whether the node runs as a tool of an agent. */
		isTool,
		/** Who reads the texts of this run. */
		...reader,
		/** What the visitor of the chat has sent, see `chatMessages`. */
		messages: chatMessages(context),
		/** Whether text is shown while it arrives. */
		isLive: reader.isStreamed && reader.reader !== 'model',
		clock: n8nClock(context),
		/** How many runs of the node came before this one. */
		index: runsOf(context).length,
		/** Whether n8n runs the node again if this try fails. */
		isTriedAgain: 'getExecuteData' in given && isTriedAgain(context),
		/** The service behind the credential. Throws where the credential is invalid, see `readCredential`. */
		service: () => {
			const read = valueOf(service);
			// A sub-node has no output below which it could be shown.
			if (mistake && 'addExecutionHints' in context)
				hint(`${mistake.message}. ${mistake.hint}`);
			mistake = undefined;
			return read;
		},
		/** What was read of the node, for a run that goes on; undefined where the credential is invalid. */
		reading,
		/** A text, or JSON with all its texts, as errors, hints and logs show it. */
		withoutSecrets,
		/** The API key, and everything that may be one in it, the longest first: no visitor reads them. */
		keys,
		/** What n8n offers for requests and files. */
		helpers: context.helpers,
		/** Aborted when the execution is canceled. */
		canceled: context.getExecutionCancelSignal(),
		/** Runs steps on a data table, see `onTable`. */
		onTable: async (schema: TableSchema, ...steps: readonly Step[]) =>
			await onTable(context, schema, ...steps),
		/** The input items. A sub-node has those of its own connection: n8n's MCP trigger passes a tool its arguments there. */
		items: () => context.getInputData(),
		/** The items of the main input, which have the files: of a sub-node those of its agent. */
		mainItems: () => context.getInputData(0, NodeConnectionTypes.Main),
		/** Whether failed items go on, as *On Error* says. */
		continuesOnFail: () => context.continueOnFail(),
		/** A parameter of an item as it was entered, its expression evaluated. */
		getNodeParameter: (name: string, item: number, fallback: unknown): unknown =>
			context.getNodeParameter(name, item, fallback),
		/** State of the node within one execution, see `nodeState`. */
		state: <T>(key: string) => nodeState<T>(context, key),
		/** Shows a message below the output. */
		hint,
		/** Says below the output and in n8n's log what did not work though the node goes on; once in each try. */
		mention(message: string) {
			if (mentioned.has(message)) return;
			mentioned.add(message);
			context.logger.warn(withoutSecrets(message), { node: node.name });
			hint(message);
		},
		/**
		 * Adds attributes to the span of this run in n8n's OpenTelemetry traces; n8n also stores them with the execution. The
		 * names follow the semantic conventions where these have one. A sub-node has the span of its agent or chain.
		 */
		trace(attributes: Attributes) {
			const { getExecuteData, setMetadata } = context as Partial<IExecuteFunctions>;
			const earlier = getExecuteData?.call(context).metadata?.tracing ?? {};
			const tracing = joinedAttributes(earlier, withoutSecrets(attributes));
			setMetadata?.call(context, { tracing });
		},
		/** Adds to the node's token count in n8n. */
		countTokens: (sent: number, received: number) => {
			accumulateTokenUsage(context, sent, received);
		},
		/**
		 * Adds custom data to the execution, by which it can be found in n8n's list. Values are cut to n8n's maximum of 255
		 * characters, empty ones left out. Does nothing in an n8n without custom data.
		 */
		setCustomData(key: string, value: string) {
			const { customData } = context as Partial<IExecuteFunctions>;
			if (value !== '') customData?.set(key, withoutSecrets(value).slice(0, 255));
		},
		/** Sends a text to the chat that streams: one `begin` before and one `end` after all `item`. */
		sendChunk(type: 'begin' | 'item' | 'end', item: number, text?: string) {
			context.sendChunk(type, item, text);
		},
		/** A URL from which anybody can fetch a stored file for a time, which is in n8n's notation. */
		sign: (file: IBinaryData, expiresIn: string) =>
			context.helpers.createBinarySignedUrl(file, expiresIn),
	};
}
