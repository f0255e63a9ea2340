import {
	accumulateTokenUsage,
	NodeConnectionTypes,
	type IBinaryData,
	type IExecuteFunctions,
} from 'n8n-workflow';

import { settled, valueOf } from '../../client/concurrency';
import { runsOf } from '../engine/runs';
import { isToolRun } from '../engine/toolRun';
import { isTriedAgain } from '../engine/tries';
import { n8nService } from './host';
import {
	hiddenBy,
	hint,
	mentionOnce,
	n8nClock,
	nodeState,
	trace,
	type NodeContext,
} from './nodeContext';
import { chatMessages, readerOf } from './reader';
import { maskIn } from './secrets';

/** One run of a node: what its functions need of n8n, read once. */
export type Run = Awaited<ReturnType<typeof openRun>>;

/** The runs that are under way, by their context. */
const runs = new WeakMap<object, Run>();

/** The run that has been opened with a context, for functions that are given this alone. */
export function openedRun(context: NodeContext): Run {
	return runs.get(context)!;
}

/** Opens the run of a node. The credential is read once, as n8n would load and decrypt it for every request. */
export async function openRun(given: NodeContext) {
	// n8n's type of a sub-node lacks what its context has.
	const context = given as IExecuteFunctions;
	const reader = readerOf(context);
	const { isStreaming } = context as Partial<IExecuteFunctions>;
	const isStreamed = isStreaming?.call(context) === true;
	const service = await settled(n8nService(context));
	const { mask, keys } = hiddenBy(context);
	const withoutSecrets = <T>(value: T) => maskIn(value, mask);
	const run = {
		/** What n8n gives to the node, for its tables, files and errors. */
		context,
		node: context.getNode(),
		workflowId: context.getWorkflow().id ?? '',
		/** Whether the node runs as a tool of an agent. */
		isTool: isToolRun(context),
		reader,
		/** The first item of each run of the Chat Trigger that has started this execution. */
		messages: chatMessages(context),
		/** Whether the trigger streams. */
		isStreamed,
		/** Whether text is shown while it arrives. */
		isLive: isStreamed && reader === 'visitor',
		clock: n8nClock(context),
		/** How many runs of the node came before this one. */
		index: runsOf(context).length,
		/** Whether n8n runs the node again if this try fails. */
		isTriedAgain: 'getExecuteData' in given && isTriedAgain(context),
		/** The service behind the credential. Throws where the credential is invalid, see `readCredential`. */
		service: () => valueOf(service),
		/** A text, or JSON with all its texts, as errors, hints and logs show it. */
		withoutSecrets,
		/** The API key, and everything that may be one in it, the longest first: no visitor reads them. */
		keys,
		/** The input items. Those of a sub-node are otherwise the ones of its own connection. */
		items: () => context.getInputData(0, NodeConnectionTypes.Main),
		/** Whether failed items go on, as *On Error* says. */
		continuesOnFail: () => context.continueOnFail(),
		/** A parameter of an item as it was entered, its expression evaluated. */
		getNodeParameter: (name: string, item: number, fallback: unknown): unknown =>
			context.getNodeParameter(name, item, fallback),
		/** State of the node within one execution, see `nodeState`. */
		state: <T>(key: string) => nodeState<T>(context, key),
		hint: (message: string, type?: 'info' | 'warning') => {
			hint(context, message, type);
		},
		mention: (message: string) => {
			mentionOnce(context, message);
		},
		trace: (attributes: Parameters<typeof trace>[1]) => {
			trace(context, attributes);
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
	runs.set(given, run);
	return run;
}
