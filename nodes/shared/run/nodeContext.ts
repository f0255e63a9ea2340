import type {
	IDataObject,
	IExecuteFunctions,
	INode,
	ISupplyDataFunctions,
	NodeExecutionHint,
} from 'n8n-workflow';

import type { Media } from '../../client/chat/result';
import { withoutContent, withoutFilesIn } from '../../client/fileTypes';
import { imagesAsLinksIn } from '../../client/imagesAsLinks';
import { objectOf } from '../../client/json';
import { nodeOf } from '../engine/context';
import {
	keyOf,
	nodeValues,
	runDataOf,
	sourceOf,
	sourcesOf,
	toRefs,
	type RunRef,
} from '../engine/runs';
import { workflowOf } from '../engine/workflow';

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
	const media = (result['media'] as readonly Media[] | undefined)?.map((file) => ({
		...file,
		// A file itself would be read as text, and paid for, in each round that follows.
		url: withoutContent(file.url),
	}));
	const fields = TOOL_FIELDS[kind].map((name) => [name, { ...result, media }[name]]);
	return withoutFilesIn(Object.fromEntries(fields) as IDataObject);
}

/** Index of the first output of Agent with Tools that has tool calls. */
export const FIRST_TOOL = 2;

/** Whether the calls of all tools of an Agent with Tools leave through one output, by its form. */
export function isSingleOutput(values: { toolSource?: unknown; outputMode?: unknown }): boolean {
	return values.toolSource === 'json' || values.outputMode === 'single';
}

/** Tells by its index whether an output of an Agent with Tools has tool calls. The one for errors comes after them. */
export function isToolOutput({
	parameters,
}: Pick<INode, 'parameters'>): (output: number) => boolean {
	const { tool } = objectOf(parameters['tools']);
	const count = isSingleOutput(parameters) ? 1 : [tool ?? []].flat().length;
	return (output) => output >= FIRST_TOOL && output < FIRST_TOOL + count;
}

/** Whether the items of this run come from a tool call of Agent with Tools, whose model reads what goes back. */
export function isToolCall(context: IExecuteFunctions): boolean {
	const runs = runDataOf(context) ?? {};
	const { nodes } = workflowOf(context);
	const own = nodeOf(context).name;
	// An outcome of an agent is for who has asked it, whatever came back from its own tools on the way.
	const passed = new Set([own]);
	// A source that is wrong may lead in a circle.
	const seen = new Set<string>();
	let [from] = toRefs(sourceOf(context));
	while (from && !seen.has(keyOf(from))) {
		const { node: name, output }: RunRef = from;
		const node = nodes[name];
		if (!passed.has(name) && node?.type.endsWith('.functionCallingAgent') === true) {
			const leadsBack = () => context.getChildNodes(own).some((each) => each.name === name);
			if (isToolOutput(node)(output) && leadsBack()) return true;
			passed.add(name);
		}
		seen.add(keyOf(from));
		[from] = sourcesOf(runs, from);
	}
	return false;
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

/** Maximum characters of a text with the values of many items. */
const MAX_TEXT = 1_000;

/** Attributes of the span of a run. */
export type Attributes = Readonly<Record<string, string | number | undefined>>;

/** Attributes with those of earlier items of a run: numbers are summed, and different texts are listed. */
export function joinedAttributes(earlier: Readonly<Record<string, unknown>>, added: Attributes) {
	const joined = Object.entries(added).flatMap(([name, value]) =>
		value === undefined || value === '' ? [] : [[name, join(earlier[name], value)] as const],
	);
	return Object.fromEntries(joined);
}

function join(earlier: unknown, value: string | number): string | number {
	if (typeof value === 'number') return (typeof earlier === 'number' ? earlier : 0) + value;
	const texts = new Set([...(earlier === undefined ? [] : String(earlier).split(', ')), value]);
	return [...texts].join(', ').slice(0, MAX_TEXT);
}

/** A message as n8n shows it below the output, where it draws the images of a text. */
export function toHint(message: string, type: 'info' | 'warning' = 'warning'): NodeExecutionHint {
	return { message: imagesAsLinksIn(message), type, location: 'outputPane' };
}
