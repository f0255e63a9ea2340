import type {
	IBinaryKeyData,
	IDataObject,
	IExecuteFunctions,
	INodeExecutionData,
} from 'n8n-workflow';

import { findMedia, isDataUrl, structuredMedia, type Media } from '../../client/chat/result';
import type { ChatCompletion } from '../../client/chat/types';
import { mapConcurrent, settled } from '../../client/concurrency';
import { InputError, isCanceled } from '../../client/errors';
import { mimeTypeOf } from '../../client/fileTypes';
import { decodeFile, downloadFile, type Download } from '../files/download';
import { type DownloadLimits, toDownloadLimits } from '../files/downloadLimits';
import { ANY_FILE } from '../files/judgeFile';
import type { ValuesOf } from '../form/form';
import { n8nService } from '../run/host';
import { isToolRun } from '../run/nodeContext';
import { errorLine } from '../run/nodeErrors';
import type { replyOptions } from './properties';

/** Limit for the files of all replies of one run, in megabytes. */
const MAX_TOTAL_SIZE = 10_000;

/** How the files of a reply are downloaded; undefined where they are not. */
export const toMedia = (options: ValuesOf<typeof replyOptions>) =>
	options.downloadMedia
		? toDownloadLimits({ ...options, maximumTotalSize: MAX_TOTAL_SIZE })
		: undefined;

/** Maximum number of files of one reply. */
const MAX_FILES = 20;

/** The binary field of an entry of `media`. */
const fieldName = (index: number) => `media_${index}`;

const CONCURRENT_DOWNLOADS = 3;
/** A model may write links that lead nowhere, so a lost one must not take long. */
const MAX_RETRIES = 2;

/** The URLs of the files that the service names in fields of its own: a model has not written them. */
export function namedFiles(reply: ChatCompletion, base: string): ReadonlySet<string> {
	return new Set(structuredMedia(reply, base).map(({ url }) => url));
}

/**
 * The output of a reply with the files that the reply links to: its field `media`, and the binary fields that this names.
 * A failed download does not fail the item, as the reply is paid for: its error goes to the file's entry of `media`.
 *
 * @param download Undefined if nothing is to be downloaded. A tool run downloads nothing: an agent only takes URLs.
 * @throws ServiceError when the execution is canceled.
 */
export async function withMedia(
	context: IExecuteFunctions,
	json: IDataObject,
	reply: ChatCompletion,
	download: DownloadLimits | undefined,
): Promise<INodeExecutionData> {
	const { baseUrl } = await n8nService(context);
	const found = isToolRun(context) ? [] : findMedia(reply, baseUrl);
	if (download === undefined || found.length === 0) return { json };
	const named = namedFiles(reply, baseUrl);

	const files = await mapConcurrent(found, CONCURRENT_DOWNLOADS, async (entry, index) => {
		const how = { limits: download, isFromModel: !named.has(entry.url) };
		const file = await settled(fetchFile(context, entry, index, how));
		if ('error' in file && isCanceled(file.error)) throw file.error;
		return file;
	});
	const binary: IBinaryKeyData = {};
	const media = found.map(({ kind, url }, index): IDataObject => {
		const file = files[index]!;
		if ('error' in file) return { kind, url, error_message: errorLine(file.error as Error) };
		const name = fieldName(index);
		binary[name] = file.value;
		// The content of a data: URL is in the binary field.
		const shown = isDataUrl(url) ? url.slice(0, url.indexOf(',') + 1) : url;
		return { kind, url: shown, binary: name };
	});
	const hasFiles = Object.keys(binary).length > 0;
	return { json: { ...json, media }, ...(hasFiles && { binary }) };
}

async function fetchFile(
	context: IExecuteFunctions,
	{ kind, url }: Media,
	index: number,
	how: Pick<Download, 'limits' | 'isFromModel'>,
) {
	const problem = `has more than ${MAX_FILES} files`;
	if (index >= MAX_FILES) throw new InputError('A reply', problem, 'Open the URL of the file');
	const name = (isDataUrl(url) ? '' : lastSegment(url)) || fieldName(index);
	const expected = kind === 'file' ? (mimeTypeOf(name) ?? ANY_FILE) : kind;
	const file = { ...how, url, name, expected };
	if (isDataUrl(url)) return await decodeFile(context, file);
	const download = { ...file, retries: MAX_RETRIES, subject: { url } };
	return (await downloadFile(context, download)).data;
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
