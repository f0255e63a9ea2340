import type { IExecuteFunctions, IPairedItemData } from 'n8n-workflow';

import type { OpenCall } from './state';

/** Key in the JSON of every tool call item that leaves the node: which call it is. */
export const ENVELOPE = 'tool_call';

/** The tool call of this node that an input item is linked to, by n8n's item linking. */
export type LinkedCall =
	| { readonly kind: 'call'; readonly call: OpenCall }
	/** It is linked to several calls. */
	| { readonly kind: 'ambiguous' }
	/** It is not linked to a call of this node, or a node in between has lost the link. */
	| { readonly kind: 'none' };

/** Follows the links of an input item back to the tool call of this node that it comes from. */
export function linkedCallOf(context: IExecuteFunctions, itemIndex: number): LinkedCall {
	const { pairedItem } = context.getInputData()[itemIndex]!;
	const links = [pairedItem ?? []].flat().map(toLink);
	const found = links.map((link) => followLink(context, itemIndex, link));
	const calls = found.flatMap((linked) => (linked.kind === 'call' ? [linked.call] : []));
	const [first] = calls;
	if (found.some(({ kind }) => kind === 'ambiguous')) return { kind: 'ambiguous' };
	if (first === undefined) return { kind: 'none' };
	const same = calls.every(({ slot, callId }) => slot === first.slot && callId === first.callId);
	return same ? { kind: 'call', call: first } : { kind: 'ambiguous' };
}

function followLink(
	context: IExecuteFunctions,
	itemIndex: number,
	link: IPairedItemData,
): LinkedCall {
	try {
		const item = context
			.getWorkflowDataProxy(itemIndex)
			.$getPairedItem(
				context.getNode().name,
				context.getInputSourceData(link.input ?? 0),
				link,
			);
		return toLinkedCall(item?.json[ENVELOPE]);
	} catch (error) {
		const { type } = (error as { context?: { type?: string } }).context ?? {};
		return { kind: type === 'paired_item_multiple_matches' ? 'ambiguous' : 'none' };
	}
}

function toLinkedCall(envelope: unknown): LinkedCall {
	if (typeof envelope !== 'object' || envelope === null) return { kind: 'none' };
	const { id, conversation } = envelope as { id?: unknown; conversation?: unknown };
	if (typeof id !== 'string' || typeof conversation !== 'number') return { kind: 'none' };
	return { kind: 'call', call: { slot: conversation, callId: id } };
}

function toLink(link: number | IPairedItemData): IPairedItemData {
	return typeof link === 'number' ? { item: link } : link;
}
