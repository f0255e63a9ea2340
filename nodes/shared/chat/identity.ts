import { hash } from 'node:crypto';
import {
	CHAT_TRIGGER_NODE_TYPE,
	type IExecuteFunctions,
	type INodeExecutionData,
} from 'n8n-workflow';

import { InputError } from '../../client/errors';
import { isBlank, shown } from '../../client/values';
import { chatPrefix } from '../ledger/dataTable';
import { engineOf } from '../run/engine';
import type { NodeContext } from '../run/nodeContext';
import { checkKey, isHollow } from '../run/parameters';

/** Texts that every database and every parameter of n8n keeps as they are. */
const PLAIN = /^[\p{L}\p{N}][\p{L}\p{N} ._@+:/-]{0,99}$/u;

const nameOf = (value: string) =>
	PLAIN.test(value) ? value : `#${hash('sha256', value, 'base64url')}`;

/** The first item of each run of the Chat Trigger that has started this execution. */
function chatMessages(context: IExecuteFunctions): INodeExecutionData[] {
	const { runData = {}, nodes } = engineOf(context);
	const runs = Object.entries(runData).flatMap(([name, each]) =>
		nodes[name]?.type === CHAT_TRIGGER_NODE_TYPE ? each : [],
	);
	// In the retry of a crashed execution, n8n has invented the first run.
	return runs.flatMap(({ data }) => data?.['main']?.[0]?.[0] ?? []);
}

/** Whether somebody in n8n's chat, or before a streamed response, reads the texts of this execution. */
export function isShown(context: NodeContext): boolean {
	// n8n's type of a sub-node lacks what its context has. That of n8n 2.20 has no such method.
	const { isStreaming } = context as Partial<IExecuteFunctions>;
	return (
		isStreaming?.call(context) === true || chatMessages(context as IExecuteFunctions).length > 0
	);
}

/** What is sent as `sessionId`, which a visitor may have chosen: in the item, and in the chat, null where it has none. */
export function sessionIds(context: IExecuteFunctions, item: number): unknown[] {
	const ofChat = chatMessages(context).map(({ json }) => json['sessionId'] ?? null);
	const ofItem = context.getInputData()[item]?.json['sessionId'];
	return ofItem === undefined ? ofChat : [ofItem, ...ofChat];
}

/** The identities of the chat's conversations, by those that tell them apart. */
function chatsOf(context: IExecuteFunctions, item: number): ReadonlyMap<string, string> {
	const ids = sessionIds(context, item)
		.filter((id) => !isBlank(id) && id !== false && !isHollow(id))
		.map((id) => shown(id).trim().normalize());
	return new Map(ids.map((id) => [id, `${chatPrefix(context)}${nameOf(id)}`]));
}

/**
 * The identity of the conversation in n8n's chat, found anywhere in the workflow; empty if there is none. A table finds
 * rows by it. A visitor chooses the `sessionId`, so that it counts for chats of this workflow only, and never as a key.
 */
export const chatOf = (context: IExecuteFunctions, item: number): string =>
	[...chatsOf(context, item).values()][0] ?? '';

/**
 * The identity of a key that the workflow has chosen; that of the chat if it is the `sessionId` of the chat.
 *
 * @param ifEmpty What to do about an empty key.
 * @throws InputError when the key is empty or says nothing.
 */
export function keyOf(
	context: IExecuteFunctions,
	item: number,
	entered: string,
	[label, ifEmpty]: readonly [label: string, ifEmpty: string],
): string {
	const key = entered.trim();
	if (key === '') throw new InputError(label, 'is empty', ifEmpty);
	return chatsOf(context, item).get(key.normalize()) ?? `key ${nameOf(checkKey(key, label))}`;
}

/** Whether the visitor of the chat has sent this value, anywhere in a message: an expression may take it out of a text. */
export function isOfVisitor(context: IExecuteFunctions, value: string): boolean {
	const sends = (sent: unknown): boolean =>
		typeof sent === 'object' && sent !== null
			? Object.entries(sent).flat().some(sends)
			: String(sent).includes(value);
	return chatMessages(context).some(({ json }) => sends(json));
}
