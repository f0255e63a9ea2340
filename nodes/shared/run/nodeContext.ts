import {
	sleep,
	type IDataObject,
	type IExecuteFunctions,
	type ISupplyDataFunctions,
} from 'n8n-workflow';

import { canceledError } from '../../client/http/failures';
import { imagesAsLinksIn } from '../../client/imagesAsLinks';
import { withoutUndefined } from '../../client/json';
import type { Clock } from '../../client/ports';
import { nodeValues } from '../engine/nodeValues';
import { maskIn, NO_MASK, type Mask } from './secrets';

/** Type name of the credential that all nodes share. */
export const CREDENTIAL = 'agentVideoApi';

/** The context that n8n passes to a node: one that processes items, or a sub-node. */
export type NodeContext = IExecuteFunctions | ISupplyDataFunctions;

/** The fields of a result that an agent's model needs; the others would only fill its context. */
const REPLY_FIELDS = ['output', 'json', 'tool_calls', 'media', 'session_id'];
const TOOL_FIELDS = {
	reply: REPLY_FIELDS,
	agent: REPLY_FIELDS,
	assistant: ['output', 'json', 'media', 'session_id'],
	video: [
		...['task_id', 'status', 'video_url', 'thumbnail_url'],
		...['reason', 'error_message', 'explanation'],
	],
};

/** The output of a result: all fields, or in a tool run only those the agent's model needs. */
export function forTools(
	isTool: boolean,
	kind: keyof typeof TOOL_FIELDS,
	result: IDataObject,
): IDataObject {
	if (!isTool) return result;
	const fields = TOOL_FIELDS[kind].map((name) => [name, result[name]]);
	return withoutUndefined(Object.fromEntries(fields) as IDataObject);
}

/**
 * State of a node within one execution, in n8n's node context. n8n saves it with the execution, so the value has to be
 * JSON. It survives *Retry On Fail*, a wait that suspends the execution, and the rounds of a loop; nothing removes it by
 * itself. So `clear` it when the work is done, or the next batch of a loop finds the state of this one.
 *
 * @param key Name of the value, unique within the node.
 */
export function nodeState<T>(context: NodeContext, key: string) {
	const values = nodeValues(context);
	const get = () => values[key] as T | undefined;
	return {
		get,
		/** Returns the stored value: change that one, as n8n may store a copy. */
		set(value: T): T {
			values[key] = value;
			return get()!;
		},
		clear() {
			values[key] = undefined;
		},
	};
}

/** What a node must not show. */
interface Hidden {
	/** In errors, hints and logs. */
	readonly mask: Mask;
	/** In a chat: the API key, the longest of its forms first. */
	readonly keys: readonly string[];
}

/** By the state of the node, of which an execution has one. */
const hidden = new WeakMap<object, Hidden>();

/** Keeps what the node must not show from now on. */
export function hide(context: NodeContext, values: Hidden): void {
	hidden.set(nodeValues(context), values);
}

/** What the node must not show: nothing before its credential is read. */
export function hiddenBy(context: Partial<NodeContext>): Hidden {
	return hidden.get(nodeValues(context)) ?? { mask: NO_MASK, keys: [] };
}

/** A text, or JSON with all its texts, as errors, hints and logs show it. */
export function withoutSecrets<T>(context: Partial<NodeContext>, value: T): T {
	return maskIn(value, hiddenBy(context).mask);
}

/** Maximum characters of a text with the values of many items. */
const MAX_TEXT = 1_000;

/**
 * Adds attributes to the span of this run in n8n's OpenTelemetry traces; n8n also stores them with the execution. The
 * names follow the semantic conventions where these have one. Over the items of a run numbers are summed, and different
 * texts are listed. Does nothing in a sub-node, which has no metadata.
 */
export function trace(
	context: Partial<IExecuteFunctions>,
	attributes: Readonly<Record<string, string | number | undefined>>,
): void {
	const earlier = context.getExecuteData?.().metadata?.tracing ?? {};
	const shown = withoutSecrets(context, attributes);
	const tracing = Object.entries(shown).flatMap(([name, value]) =>
		value === undefined || value === '' ? [] : [[name, joined(earlier[name], value)] as const],
	);
	context.setMetadata?.({ tracing: Object.fromEntries(tracing) });
}

function joined(earlier: unknown, value: string | number): string | number {
	if (typeof value === 'number') return (typeof earlier === 'number' ? earlier : 0) + value;
	const texts = new Set([...(earlier === undefined ? [] : String(earlier).split(', ')), value]);
	return [...texts].join(', ').slice(0, MAX_TEXT);
}

/** Shows a message below the output, where n8n draws the images of a text. */
export function hint(
	context: Pick<IExecuteFunctions, 'addExecutionHints'>,
	message: string,
	type: 'info' | 'warning' = 'warning',
): void {
	const plain = imagesAsLinksIn(withoutSecrets(context, message));
	context.addExecutionHints({ message: plain, type, location: 'outputPane' });
}

/** What each try of a run has mentioned, by n8n's helpers for it. */
const mentioned = new WeakMap<object, Set<string>>();

/** Says below the output and in n8n's log what did not work though the node goes on; once in each try. */
export function mentionOnce(context: IExecuteFunctions, message: string): void {
	const said = mentioned.get(context.helpers) ?? new Set();
	if (said.has(message)) return;
	mentioned.set(context.helpers, said.add(message));
	context.logger.warn(withoutSecrets(context, message), { node: context.getNode().name });
	hint(context, message);
}

/** The `sleep` of n8n 2.20 to 2.30 cannot be interrupted, so a sleep is cut into slices of this length. */
const SLEEP_SLICE_MS = 1_000;

/** Sleeps for a time, at most for the length of a slice. Ends early when the signal is aborted. */
export async function sleepSlice(ms: number, end?: AbortSignal): Promise<void> {
	await sleep(Math.min(Math.ceil(ms), SLEEP_SLICE_MS), end).catch(() => undefined);
}

/** One turn of the event loop, see `mapConcurrent`: requests leave and responses are received. */
export async function eventLoopTurn(): Promise<void> {
	await sleep(0);
}

/**
 * The client's clock: real time, with a sleep that rejects when the execution is canceled. It is monotonic: it starts at
 * the wall-clock time and then ignores adjustments of the wall clock, which would end or prolong a wait.
 */
export function n8nClock(context: NodeContext): Clock {
	const signal = context.getExecutionCancelSignal();
	const startMs = Date.now() - performance.now();

	return {
		now: () => Math.round(startMs + performance.now()),
		random: Math.random,
		async sleep(ms, end) {
			const both = end && signal ? AbortSignal.any([end, signal]) : (end ?? signal);
			const endMs = performance.now() + ms;
			for (let leftMs = ms; leftMs > 0; leftMs = endMs - performance.now()) {
				await sleepSlice(leftMs, both);
				if (signal?.aborted) throw canceledError();
				if (end?.aborted) return;
			}
		},
	};
}
