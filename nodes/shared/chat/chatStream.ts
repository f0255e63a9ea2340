import type { IDataObject, INodeExecutionData } from 'n8n-workflow';

import { progressLine } from '../../client/chat/toolCalls';
import { imagesAsLinksIn, imagesInStream, type IsKnown } from '../../client/imagesAsLinks';
import type { ChatDelta } from '../../client/chat/types';
import { readResult } from '../../client/concurrency';
import { isConnected } from '../engine/workflow';
import { hintMissingFiles } from '../files/download';
import { isOfVideo, videoLine } from '../../client/video/pollResult';
import { readBatching } from '../form/callOptions';
import { mapItems, type ItemOptions } from '../run/mapItems';
import { shownText, toNodeError } from '../run/nodeErrors';
import type { Run } from '../run/run';
import { begunIn, maskIn } from '../run/secrets';
import { form } from '../form/form';
import { replyFields } from './properties';

/** Sends text to the chat of this execution. */
export type SendText = (text: string) => void;

/** A line of text apart from the reply: the chat page shows Markdown, where a block quote is a paragraph of its own. */
export function toChatNotice(line: string): string {
	return `\n\n> ${line}\n\n`;
}

/**
 * Shows a reply in the chat while it arrives.
 *
 * @param sendText Undefined where nobody sees the reply before it is complete.
 * @returns What `sendChat` calls with each chunk: shows the answer; with `reasoning` before it the reasoning and an empty
 *   line; with `tools` the tool progress as lines of their own. Undefined without `sendText`.
 */
export function showReply(
	sendText: SendText | undefined,
	show: { readonly reasoning: boolean; readonly tools?: boolean },
): ((delta: ChatDelta) => boolean) | undefined {
	if (sendText === undefined) return undefined;
	let isReasoning = false;
	return ({ content, reasoning, progress }) => {
		for (const line of show.tools === true ? progress.map(progressLine) : [])
			if (line !== '') sendText(toChatNotice(line));
		const thought = show.reasoning ? reasoning : '';
		const hasThought = isReasoning || thought !== '';
		isReasoning = hasThought && content === '';
		const text = thought + (hasThought && content !== '' ? '\n\n' : '') + content;
		if (text !== '') sendText(text);
		return text !== '';
	};
}

const { streaming, output } = form(replyFields).fields;

/**
 * Runs `work` for each input item of a chat node. A live chat shows one reply after the other, so that texts do not mix.
 *
 * @param onSuccess Called when all items have succeeded.
 * @param more What becomes of the others where an item fails, and which of them send something.
 * @returns The output of the node.
 */
export async function mapChats(
	run: Run,
	work: (item: number, sendText?: SendText) => Promise<INodeExecutionData>,
	onSuccess: () => void,
	more: Pick<ItemOptions, 'describeCompleted' | 'goesOn' | 'sends'> = {},
): Promise<INodeExecutionData[][]> {
	const readOptions = () => {
		const live = run.isLive && streaming.read(run, 0) !== 'off';
		const hasDetails = (item: number) => output.read(run, item) !== 'simple';
		const batching = { ...readBatching(run), ...(live && { concurrency: 1 }) };
		return { ...batching, ...more, hasDetails, live };
	};
	const items = await mapItems(run, readOptions, async (item, { live }) => {
		const ask = async (sendText?: SendText) => await work(item, sendText);
		return { ...(await withChatStream(run, item, live, ask)), pairedItem: { item } };
	});
	if (items.every(({ json }) => json['error'] === undefined)) onSuccess();
	hintMissingFiles(run, items, 'media');
	return [forVisitors(run, items)];
}

/**
 * Runs `work` with a function that sends text to n8n's chat, or to the streaming webhook of this execution.
 *
 * n8n requires a `begin` and an `end` chunk around the text, also when the work fails. An error that stops the node is
 * sent by n8n. With *On Error: Continue* nobody would send it, so its message is sent as text here.
 *
 * @param live Whether there is anybody to send text to; otherwise `work` gets no function.
 */
export async function withChatStream<T>(
	run: Run,
	itemIndex: number,
	live: boolean,
	work: (sendText?: SendText) => Promise<T>,
): Promise<T> {
	if (!live) return await work();
	const service = readResult(run.service);
	const isKnown = 'value' in service ? service.value.isKnown : () => false;
	const toShown = shownInStream(run.keys, isKnown);
	let buffered = '';
	let isDue = false;

	function flush(): void {
		isDue = false;
		if (buffered !== '') run.sendChunk('item', itemIndex, buffered);
		buffered = '';
	}
	function sendText(text: string): void {
		add(toShown(text));
	}
	function add(shown: string): void {
		buffered += shown;
		// n8n's chat page drops chunks of white space only: they are sent with the text that follows.
		if (isDue || !/\S/.test(shown)) return;
		isDue = true;
		// After all events that have arrived together: n8n handles each chunk by itself.
		void Promise.resolve().then(flush);
	}
	run.sendChunk('begin', itemIndex);
	try {
		return await work(sendText).catch((error: unknown) => {
			// n8n runs the node again where its first item has failed.
			const isAgain = run.isTriedAgain && itemIndex === 0;
			if (run.continuesOnFail() && !isAgain) {
				const failure = toNodeError(run, error, itemIndex);
				sendText(toChatNotice(shownText(run, failure)));
			} else add(toShown('', 'broken'));
			throw error;
		});
	} finally {
		add(toShown('', 'whole'));
		flush();
		run.sendChunk('end', itemIndex);
	}
}

/** Shows what has become of an item that nothing was shown of. With *On Error: Continue* nobody else does. */
export function showNotice(run: Run, itemIndex: number, text: string): void {
	run.sendChunk('begin', itemIndex);
	run.sendChunk('item', itemIndex, toChatNotice(text));
	run.sendChunk('end', itemIndex);
}

/**
 * The items of an output of a video node as a chat shows them: `output`, or all of their JSON. While it streams, n8n shows none
 * of them: a chat is told of those that have failed, and of all videos where no node follows that could tell it.
 */
export function showItems(
	run: Run,
	items: readonly INodeExecutionData[],
	outputIndex = 0,
): INodeExecutionData[] {
	const toShown = run.isDrawn ? imagesAsLinksIn : <T>(json: T) => json;
	const withLine = (json: IDataObject) =>
		run.isTool || !isOfVideo(json) || 'output' in json
			? json
			: { ...json, output: videoLine(json) };
	const shown = forVisitors(
		run,
		items.map((item) => ({ ...item, json: toShown(withLine(item.json)) })),
	);
	const isLast = run.isLive && !isConnected(run.context, outputIndex);
	for (const [index, { json }] of run.isLive ? shown.entries() : []) {
		const { error, output } = json;
		const line = typeof error === 'string' || !isLast || !isOfVideo(json) ? error : output;
		if (typeof line === 'string') showNotice(run, index, line);
	}
	return shown;
}

const MASKED = '[masked: API Key]';

/** Replaces the API key, as it is written, in a text that a chat shows. */
export function withoutKey({ keys }: Pick<Run, 'keys'>, text: string): string {
	return keys.reduce((shown, key) => shown.replaceAll(key, MASKED), text);
}

/** The items without the API key, where a chat may show them, or a model repeat them: all of an item leaves n8n. */
export function forVisitors(run: Run, items: readonly INodeExecutionData[]): INodeExecutionData[] {
	if (run.reader === 'owner' && !run.isAwaited) return [...items];
	const mask = (text: string) => withoutKey(run, text);
	return items.map((item) => ({ ...item, json: maskIn(item.json, mask) }));
}

/** Ends what a chat shows of a reply before its error: n8n's page appends the error to it. */
const BROKEN_OFF = ' […]\n\n';

/**
 * A text that arrives in pieces as a chat shows it: with links in place of images, see `imagesInStream`, and without the API
 * key. An end that may be the beginning of either waits for the next piece. A text that breaks off ends with a mark.
 *
 * @param isKnown Undefined where no page draws the text: then its images stay as they are.
 */
export function shownInStream(
	keys: readonly string[],
	isKnown: IsKnown | undefined,
): (text: string, end?: 'whole' | 'broken') => string {
	const withLinks = isKnown ? imagesInStream(isKnown) : (text: string) => text;
	const steps = keys.map((key) => {
		let held = '';
		return (text: string, isLast: boolean) => {
			const all = (held + text).replaceAll(key, MASKED);
			const begun = isLast ? 0 : begunIn(all, key);
			held = all.slice(all.length - begun);
			return all.slice(0, all.length - begun);
		};
	});
	let last = '';
	return (text, end) => {
		const isLast = end !== undefined;
		const shown = steps.reduce((all, step) => step(all, isLast), withLinks(text, isLast));
		if (shown !== '') last = shown;
		const isOpen = last !== '' && !last.endsWith('\n\n');
		return end === 'broken' && isKnown && isOpen ? shown + BROKEN_OFF : shown;
	};
}
