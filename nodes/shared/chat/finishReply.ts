import type { IBinaryKeyData, IDataObject, INodeExecutionData } from 'n8n-workflow';

import type { Conversation } from '../../client/chat/conversation';
import { stringOf, withoutThought } from '../../client/chat/replyMessage';
import { readJsonReply, type JsonFormat } from '../../client/chat/sendChat';
import { findMedia, structuredMedia, toChatResult, type Media } from '../../client/chat/result';
import { endOf, type End, type Taker } from '../../client/chat/types';
import { END_ADVICE, formOf, type Form, type JudgedReply } from '../../client/chat/verdict';
import { mapConcurrent, settled } from '../../client/concurrency';
import { InputError, isCanceled } from '../../client/errors';
import {
	isDataUrl,
	mimeTypeOf,
	withoutContent,
	withoutFileData,
	withoutFilesIn,
} from '../../client/fileTypes';
import { imagesAsLinks, imagesAsLinksIn, type IsKnown } from '../../client/imagesAsLinks';
import { asJson, type JsonObject } from '../../client/json';
import { isBlank } from '../../client/values';
import { downloadFile, freeField } from '../files/download';
import { ANY_FILE } from '../files/fileKind';
import type { ValuesOf } from '../form/form';
import { adviceOf, errorLine } from '../run/nodeErrors';
import { forTools } from '../run/nodeContext';
import type { Run } from '../run/run';
import { withoutKey, type SendText } from './chatStream';
import type { Output, replyOptions } from './properties';

/** What is said below the output of a reply that is an answer in part only, by its form and end. */
const PARTLY: Readonly<Partial<Record<Form, (end: End) => string>>> = {
	cut: (end) => `The reply was cut off (finish_reason tells why). ${adviceOf(END_ADVICE[end])}`,
	work: () =>
		'The service has run tools, but has not answered in words. Output: Detailed has their results',
};
/** What stands behind a reply that was cut off, in a memory and where a page shows it. */
export const CUT_MARK = '\n\n[The reply was cut off here]';

/** What an item wants of its reply: how much of it, in which format, and with which files. */
interface ReplyOptions {
	readonly output?: Output;
	readonly format?: JsonFormat | undefined;
	readonly options: ValuesOf<typeof replyOptions>;
	/** The conversation with the reply, and what keeps it. */
	readonly conversation?: Conversation | undefined;
	/** The binary fields that are taken. */
	readonly files?: IBinaryKeyData | undefined;
	/** Shows text in a chat that streams. */
	readonly sendText?: SendText | undefined;
	/** Keeps the conversation; `drawn` is the reply as a page may draw it, without the data of files, which a model would read. */
	readonly keep?: (conversation: Conversation, drawn: string) => Promise<void>;
}

/**
 * Takes a reply to the output of its item: it is read as JSON, its conversation is kept, and its files are downloaded.
 *
 * @throws ServiceError when the reply is not in the format, and when the execution is canceled.
 */
export async function finishReply(
	run: Run,
	reply: JudgedReply,
	node: Exclude<Taker, 'model'>,
	{ format, output, options, conversation, keep, sendText, files: taken }: ReplyOptions,
): Promise<INodeExecutionData> {
	const form = formOf(reply, node);
	const { message: said, finish_reason: reason } = reply.choices[0]!;
	const partly = PARTLY[form]?.(endOf(reason));
	if (partly !== undefined) run.hint(partly);
	const mark = form === 'cut' ? CUT_MARK : '';
	const { baseUrl: base, isKnown } = run.service();
	const outputText = () => stringOf(toChatResult(reply, { taker: node, base })['output']);
	const isSilent = isBlank(withoutThought(said.content ?? ''));
	if (sendText && isSilent && output !== 'raw') {
		const instead = outputText();
		if (instead !== '') sendText(`\n\n${instead}`);
	}
	sendText?.(mark);
	const json = readJsonReply(reply, format, node);
	const shown = { json, details: output === 'detailed', taker: node, base };
	// A model has not written them.
	const named = new Set(structuredMedia(reply, base).map(({ url }) => url));
	const isOurs = (url: string) => named.has(url) || isKnown(url);
	// Beside an answer it says nothing of it, but n8n would run the node again for it.
	const { error, ...answer } = reply;
	// The output of an agent has more than the last response.
	const raw = asJson(node === 'agent' ? { response: reply } : answer);
	const result =
		output === 'raw'
			? run.isTool
				? withoutFilesIn(raw)
				: raw
			: forTools(run.isTool, node, forChat(run, toChatResult(reply, shown), isOurs, mark));
	if (conversation !== undefined) {
		const drawn = withoutKey(run, imagesAsLinks(outputText(), isOurs) + mark);
		const ended = form === 'cut' ? withCutMark(conversation) : conversation;
		await keep?.(ended, withoutFileData(drawn));
	}

	const found = findMedia(reply, base);
	// An agent only takes URLs.
	if (!options.downloadMedia || found.length === 0 || run.isTool) return { json: result };
	const files = await downloadMedia(run, found, named, { ...options, taken });
	const hasFiles = Object.keys(files.binary).length > 0;
	return {
		json: { ...result, media: files.media },
		...(hasFiles && { binary: files.binary }),
	};
}

/**
 * The output of an item that a page may draw, see `imagesAsLinks`, with a mark behind it. `content` then has the text as it was.
 */
function forChat({ isDrawn }: Run, result: JsonObject, isKnown: IsKnown, mark: string): JsonObject {
	const { output: content } = result;
	if (!isDrawn) return result;
	// Without a text the chat shows all of it.
	if (typeof content !== 'string' || content === '') return imagesAsLinksIn(result, isKnown);
	const output = imagesAsLinks(content, isKnown) + mark;
	return output === content ? result : { ...result, output, content };
}

/** A conversation whose last message says that it was cut off: in a memory it would read as a whole one. */
function withCutMark(conversation: Conversation): Conversation {
	const { messages } = conversation;
	const said = messages.at(-1)!;
	const content = `${(said.content ?? '') as string}${CUT_MARK}`;
	return { ...conversation, messages: messages.with(-1, { ...said, content }) };
}

/** Maximum number of files of one reply. */
const MAX_FILES = 20;

/** The binary field of an entry of `media`. */
const fieldName = (index: number) => `media_${index}`;

const CONCURRENT_DOWNLOADS = 3;
/** A model may write links that lead nowhere, so a lost one must not take long. */
const MAX_RETRIES = 2;

/**
 * Downloads the files of a reply.
 *
 * @returns Its field `media`, and the binary fields that this names. A failed download does not fail the item, as the reply
 *   is paid for: its error goes to the entry of the file.
 * @throws ServiceError when the execution is canceled.
 */
async function downloadMedia(
	run: Run,
	found: readonly Media[],
	named: ReadonlySet<string>,
	{
		maximumFileSize,
		taken = {},
	}: { maximumFileSize: number; taken?: IBinaryKeyData | undefined },
) {
	const files = await mapConcurrent(found, CONCURRENT_DOWNLOADS, async (entry, index) => {
		const isFromModel = !named.has(entry.url);
		const file = await settled(fetchFile(run, entry, index, { maximumFileSize, isFromModel }));
		if ('error' in file && isCanceled(file.error)) throw file.error;
		return file;
	});
	const binary: IBinaryKeyData = {};
	const media = found.map(({ kind, url }, index): IDataObject => {
		const file = files[index]!;
		if ('error' in file) return { kind, url, error_message: errorLine(file.error as Error) };
		const name = freeField(taken, fieldName(index));
		binary[name] = file.value;
		// The content of a data: URL is in the binary field.
		return { kind, url: withoutContent(url), binary: name };
	});
	return { media, binary };
}

async function fetchFile(
	run: Run,
	{ kind, url }: Media,
	index: number,
	how: { readonly maximumFileSize: number; readonly isFromModel: boolean },
) {
	const problem = `has more than ${MAX_FILES} files`;
	if (index >= MAX_FILES) throw new InputError('A reply', problem, 'Open the URL of the file');
	const name = (isDataUrl(url) ? '' : lastSegment(url)) || fieldName(index);
	const expected = kind === 'file' ? (mimeTypeOf(name) ?? ANY_FILE) : kind;
	// The output has no data: URL that could be opened.
	const more = isDataUrl(url) ? { subject: {}, advice: [] } : { subject: { url } };
	return await downloadFile(run, {
		...how,
		...more,
		url,
		name,
		expected,
		retries: MAX_RETRIES,
	});
}

function lastSegment(url: string): string {
	// A relative URL has a name, too; the download then says that nobody can open it.
	const part = URL.canParse(url) ? new URL(url).pathname.split('/').at(-1)! : '';
	try {
		return decodeURIComponent(part);
	} catch {
		return part;
	}
}
