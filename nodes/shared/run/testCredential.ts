import {
	sleep,
	type ICredentialsDecrypted,
	type ICredentialTestFunctions,
	type INodeCredentialTestResult,
} from 'n8n-workflow';

import { InputError } from '../../client/errors';
import { bodyError, readJsonObject, send, unexpectedResponse } from '../../client/http/request';
import { transportError } from '../../client/http/failures';
import type { HttpPort } from '../../client/ports';
import { testRequest } from '../engine/request';
import { readCredential } from './credential';
import { blocked } from './host';
import { errorLine } from './nodeErrors';
import { NO_MASK } from './secrets';

const TASKS = '/v1/videos/tasks';
const TIMEOUT_MS = 30_000;
/** Error statuses below 500 that mean the same for any request. */
const GENERAL: readonly number[] = [401, 403, 404, 405, 408, 429];
/** Those that have another meaning elsewhere, or none (spec 7.2). */
const OF_SERVICE: readonly number[] = [402, 406, 409];
/** Words of an error about the path. Another server with errors in the same form does not know it. */
const ABOUT_PATH = /\b(url|uri|path|route|endpoint|method|page)\b|\/tasks/i;

/**
 * The credential test. It polls a task that does not exist, which is free of charge. The service answers with a status
 * of the task, or rejects the task ID in its own form (spec 2.10, 7); any other answer is an error.
 *
 * In code, because a test request of n8n can only compare the status and one value of the body.
 */
async function testCredential(
	this: ICredentialTestFunctions,
	{ data = {} }: ICredentialsDecrypted,
): Promise<INodeCredentialTestResult> {
	const end = new AbortController();
	let asked = '';
	let mask = NO_MASK;
	try {
		const credential = readCredential(data);
		({ mask } = credential);
		asked = `. Asked: ${toAddress(credential, TASKS)}`;
		const late = sleep(TIMEOUT_MS, end.signal).then(() => {
			throw Object.assign(new Error('Timeout'), { code: 'ETIMEDOUT' });
		});
		await Promise.race([pollNoTask(testPort(this, credential, end.signal)), late]);
	} catch (error) {
		const words = verdict(error);
		if (words !== '') return { status: 'Error', message: mask(`${words}${asked}`) };
	} finally {
		end.abort();
	}
	return { status: 'OK', message: mask(`The service accepted the API key${asked}`) };
}

/** For the `methods` of every node: n8n runs the test of the first node it has. */
export const credentialTest = { testCredential };

async function pollNoTask(http: HttpPort): Promise<void> {
	const response = await send(http, 'video', {
		method: 'POST',
		path: TASKS,
		body: { task_id: 'n8n-credential-test' },
		idleTimeoutMs: TIMEOUT_MS,
	});
	const body = await readJsonObject(response);
	const isTask = ['task_id', 'status'].every((name) => typeof body[name] === 'string');
	if (!isTask) throw bodyError('video', body);
}

/** What is wrong, as sentences; empty if the service rejected only the task ID, and so accepted the key. */
function verdict(thrown: unknown): string {
	if (thrown instanceof InputError) return errorLine(thrown);
	const error = blocked(thrown) ?? transportError(thrown);
	const { status = 0, serviceMessage = '', serviceType } = error.details;
	const isOwn = serviceType !== undefined && !ABOUT_PATH.test(serviceMessage);
	if (isOwn && [400, 404].includes(status)) return '';

	const isGeneral = status < 400 || (status >= 500 && status !== 501) || GENERAL.includes(status);
	const isService = isGeneral || (isOwn && OF_SERVICE.includes(status));
	const other = unexpectedResponse(serviceMessage || '(nothing)').with({ status });
	return errorLine(isService ? error : other, true);
}

/** The address of an endpoint. */
const toAddress = ({ baseUrl }: { readonly baseUrl: string }, path: string) =>
	baseUrl + path.replace('/v1', '');

/** The client's HTTP port over the only request helper of a credential test. */
function testPort(
	context: ICredentialTestFunctions,
	{ baseUrl, key, headers }: ReturnType<typeof readCredential>,
	end: AbortSignal,
): HttpPort {
	return async ({ method, path, body, idleTimeoutMs }) => {
		const common = { accept: 'application/json', 'content-type': 'application/json' };
		const response = await testRequest(context, {
			method,
			uri: toAddress({ baseUrl }, path),
			headers: { ...headers, ...common, authorization: `Bearer ${key}` },
			body: JSON.stringify(body),
			timeout: idleTimeoutMs,
		});
		end.addEventListener('abort', () => {
			response.body.destroy();
		});
		return { ...response, status: response.statusCode };
	};
}
