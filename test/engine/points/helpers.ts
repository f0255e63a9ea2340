import type { ServerResponse } from 'node:http';

import type {
	ICredentialTestFunctions,
	IHttpRequestOptions,
	IN8nHttpFullResponse,
	IWorkflowExecuteAdditionalData,
} from 'n8n-workflow';
import type * as N8nCore from 'n8n-core';
import type * as N8nWorkflow from 'n8n-workflow';

import {
	startScriptedServer,
	type Script,
	type ScriptedServer,
} from '../../support/scriptedServer';
import type { Context, InstalledN8n } from '../installedN8n';
import { inNode, type Point } from '../point';

/** Answers every request of `work`. */
async function withServer<T>(
	script: Script,
	work: (server: ScriptedServer) => Promise<T>,
): Promise<T> {
	const server = await startScriptedServer(script);
	try {
		return await work(server);
	} finally {
		await server.stop();
	}
}

function end(response: ServerResponse, status: number, body: string): void {
	response.writeHead(status, { 'retry-after': '7' }).end(body);
}

/** A store of credentials that counts how often one is decrypted. */
function credentials() {
	const counts = { decrypted: 0 };
	const credentialsHelper = {
		getParentTypes: () => [],
		getDecrypted: () => {
			counts.decrypted += 1;
			return Promise.resolve({ apiKey: 'stored' });
		},
		getCredentialsProperties: () => [],
		preAuthentication: () => Promise.resolve(undefined),
		isCredentialUsableByNode: () => true,
		authenticate: (
			{ apiKey }: { apiKey: string },
			_type: string,
			request: IHttpRequestOptions,
		) => Promise.resolve({ ...request, headers: { authorization: apiKey } }),
	};
	return { counts, additional: { credentialsHelper } };
}

const STREAM = {
	...({ encoding: 'stream', returnFullResponse: true, ignoreHttpStatusErrors: true } as const),
	...({ disableFollowRedirect: true, json: true } as const),
};

const DECRYPTED = {
	credentialsDecrypted: {
		...{ id: '', name: 'agentVideoApi', type: 'agentVideoApi' },
		data: { apiKey: 'given' },
	},
};

/** A request that its own signal ends while the service is silent. */
async function abortOwn(n8n: InstalledN8n): Promise<unknown> {
	const own = new AbortController();
	return await withServer(
		(response) => {
			own.abort();
			// Where the signal is not the one that is asked, nothing else ends the request.
			const timer = setTimeout(end, 300, response, 200, 'late');
			response.once('close', clearTimeout.bind(undefined, timer));
		},
		async ({ url }) =>
			await inNode(
				n8n,
				async (context) => {
					const derived = Object.create(context, {
						getExecutionCancelSignal: { value: () => own.signal },
					}) as Context;
					const request = context.helpers.httpRequestWithAuthentication.call(
						derived,
						'agentVideoApi',
						{ url, ...STREAM },
						DECRYPTED,
					);
					return await request.then(
						() => 'answered',
						() => 'ended',
					);
				},
				{ additional: credentials().additional },
			),
	);
}

/** Where n8n has its errors about addresses that its rules forbid: they moved. */
const SSRF = ['@n8n/backend-network/dist/ssrf', 'n8n/dist/services/ssrf'] as const;

const SSRF_FILES = ['ssrf-blocked-ip.error.js'];

/** A chat model as n8n's SDK takes it. */
const modelOf = (text: string) => ({
	provider: 'test',
	modelId: 'test',
	...{ generate: () => Promise.reject(new Error('not asked')), withTools: () => modelOf(text) },
	async *stream(messages: readonly { readonly content: readonly { readonly type: string }[] }[]) {
		const kinds = messages.flatMap(({ content }) => content.map(({ type }) => type));
		yield { type: 'text-delta', delta: `${text} ${kinds.join()}` };
		yield { type: 'finish', finishReason: 'stop' };
	},
});

interface Adapter {
	readonly chatModel: object;
	readonly callbacks: readonly object[];
	readonly bindTools: unknown;
	readonly _streamResponseChunks: (
		messages: readonly object[],
		options: object,
	) => AsyncIterable<{ readonly text: string }>;
}

interface Sdk {
	readonly supplyModel: (context: object, model: object) => { readonly response: Adapter };
}

const TOOLS_AGENT = '@n8n/n8n-nodes-langchain/dist/nodes/agents/Agent/agents/ToolsAgent/common.js';

/** The points of n8n's helpers, files, chats and models. */
export const HELPER_POINTS: readonly Point[] = [
	{
		n: 16,
		name: 'a context made by Object.create sends requests with its own signal',
		usedBy: ['deriveContext', 'requestWithCredential'],
		observe: abortOwn,
		expected: 'ended',
		without: {
			context: ({ helpers }) => ({
				helpers: {
					...helpers,
					httpRequestWithAuthentication: {
						call: async (_derived: object, ...rest: [string, IHttpRequestOptions]) =>
							(await helpers.httpRequestWithAuthentication.call(
								{} as never,
								...rest,
							)) as unknown,
					},
				},
			}),
		},
		lost: 'answered',
		engine2: 'same',
	},
	{
		n: 17,
		name: 'a request takes a credential that is decrypted already; errors about forbidden addresses are SsrfBlocked…',
		usedBy: ['requestWithCredential', 'ssrfErrorName'],
		observe: async (n8n) => {
			const { counts, additional } = credentials();
			let key: string | undefined;
			await withServer(
				(response, { headers }) => {
					key = headers.authorization;
					end(response, 200, '{}');
				},
				async ({ url }) => {
					await inNode(
						n8n,
						async (context) => {
							await context.helpers.httpRequestWithAuthentication.call(
								context,
								'agentVideoApi',
								{ url, ...STREAM },
								DECRYPTED,
							);
						},
						{ additional },
					);
				},
			).catch(() => undefined);
			const names = SSRF_FILES.map((file) => {
				const [path = file] = SSRF.map((folder) => `${folder}/${file}`).filter(n8n.has);
				const [Blocked] = Object.values(
					n8n.load<Record<string, new (at: string) => Error>>(path),
				);
				return new Blocked!('10.0.0.1').name;
			});
			return [key, counts.decrypted, names];
		},
		expected: ['given', 0, ['SsrfBlockedIpError']],
		without: {
			context: (context) => ({
				helpers: {
					...context.helpers,
					httpRequestWithAuthentication: {
						call: async (
							_own: object,
							...[type, options]: [string, IHttpRequestOptions]
						) =>
							(await context.helpers.httpRequestWithAuthentication.call(
								context,
								type,
								options,
							)) as unknown,
					},
				},
			}),
		},
		lost: ['stored', 1, ['SsrfBlockedIpError']],
		engine2: 'same',
	},
	{
		n: 18,
		name: 'encoding `stream` gives a stream of every status, whose class has `from`; agentOptions.host is connected to',
		usedBy: ['streamOf', 'toStream'],
		observe: async (n8n) =>
			await withServer(
				(response) => {
					end(response, 503, 'busy');
				},
				async ({ port }) =>
					await inNode(n8n, async ({ helpers }) => {
						const response = (await helpers.httpRequest({
							// The name of no host (RFC 6761).
							url: `http://unresolved.invalid:${port}`,
							agentOptions: { host: '127.0.0.1' },
							...STREAM,
						})) as IN8nHttpFullResponse;
						const body = response.body as unknown as AsyncIterable<Buffer>;
						const type = body.constructor as unknown as {
							from?(chunks: string[]): AsyncIterable<string>;
						};
						const read: string[] = [];
						for await (const chunk of body) read.push(chunk.toString());
						for await (const chunk of type.from?.(['made']) ?? []) read.push(chunk);
						return [response.statusCode, response.headers['retry-after'], ...read];
					}),
			),
		expected: [503, '7', 'busy', 'made'],
		without: {
			context: ({ helpers }) => ({
				helpers: {
					...helpers,
					httpRequest: async (options: IHttpRequestOptions) =>
						(await helpers.httpRequest({ ...options, encoding: 'text' })) as unknown,
				},
			}),
		},
		lost: [503, '7', 'b', 'u', 's', 'y'],
		engine2: 'same',
	},
	{
		n: 31,
		name: 'helpers.getSecureEgressFilter gives a resolver, which tells all addresses of a host',
		usedBy: ['lookup'],
		observe: async (n8n) =>
			await inNode(n8n, async ({ helpers }) => {
				const { getSecureEgressFilter: filter } = helpers as {
					getSecureEgressFilter?: () =>
						ReturnType<typeof helpers.getSecureEgressFilter> | undefined;
				};
				const resolve = filter?.()?.createSecureLookup();
				if (resolve === undefined) return undefined;
				return await new Promise((done) => {
					resolve('127.0.0.1', { all: true }, (_error, found) => {
						done(found);
					});
				});
			}),
		expected: [{ address: '127.0.0.1', family: 4 }],
		without: {
			context: ({ helpers }) => ({
				helpers: { ...helpers, getSecureEgressFilter: undefined },
			}),
		},
		lost: undefined,
		engine2: 'same',
		// From 2.30 there is one with n8n's SSRF protection alone, which is off by default.
		before: { version: '2.37.5', expected: undefined },
	},
	{
		n: 19,
		name: 'helpers.request of a credential test gives status and stream',
		usedBy: ['testRequest'],
		observe: async (n8n) =>
			await withServer(
				(response) => {
					end(response, 404, 'none');
				},
				async ({ url }) => {
					const { CredentialTestContext } = n8n.load<typeof N8nCore>('n8n-core');
					type New = new (data?: object) => ICredentialTestFunctions;
					const { helpers } = new (CredentialTestContext as unknown as New)({
						...({} as IWorkflowExecuteAdditionalData),
					});
					const response = (await helpers.request({
						...{ method: 'POST', uri: url, body: '{}', timeout: 5_000, simple: false },
						...{
							followRedirect: false,
							resolveWithFullResponse: true,
							useStream: true,
						},
					})) as { statusCode: number; body: AsyncIterable<Buffer> };
					const read: string[] = [];
					for await (const chunk of response.body) read.push(chunk.toString());
					return [response.statusCode, ...read];
				},
			),
		expected: [404, 'none'],
		without: {
			modules: {
				'n8n-core': (core: typeof N8nCore) => ({
					...core,
					CredentialTestContext: class {
						readonly helpers = {};
					},
				}),
			},
		},
		lost: 'throws: helpers.request is not a function',
	},
	{
		n: 20,
		name: 'the adapter of a chat model has chatModel, callbacks, bindTools and _streamResponseChunks',
		usedBy: ['adapt'],
		observe: async (n8n) => {
			const { supplyModel } = n8n.load<Sdk>('@n8n/ai-node-sdk');
			const { HumanMessage } = n8n.load<{
				HumanMessage: new (fields: object) => object;
			}>('@langchain/core/messages');
			const context = {
				getNode: () => ({ name: 'Model' }),
				addOutputData: () => ({ index: 0 }),
			};
			const { response: model } = supplyModel(context, modelOf('own'));
			const other = Object.create(model, {
				chatModel: { value: modelOf('other') },
			}) as Adapter;
			const image = { type: 'image_url', image_url: { url: 'https://host/a.png' } };
			const file = { type: 'file', url: 'https://host/a.png' };
			const said: string[] = [];
			for (const part of [image, file])
				for await (const { text } of other._streamResponseChunks(
					[new HumanMessage({ content: [{ type: 'text', text: 'x' }, part] })],
					{},
				))
					said.push(text);
			return [typeof model.bindTools, model.callbacks.length, said.filter(Boolean)];
		},
		expected: ['function', 1, ['other text', 'other text,file']],
		without: {
			modules: {
				'@n8n/ai-node-sdk': (sdk: Sdk) => ({
					supplyModel: (context: object, model: object) => {
						const { response } = sdk.supplyModel(context, model);
						const own = response._streamResponseChunks.bind(response);
						return {
							response: Object.assign(response, { _streamResponseChunks: own }),
						};
					},
				}),
			},
		},
		lost: ['function', 1, ['own text', 'own text,file']],
	},
	{
		n: 21,
		name: 'with an output parser n8n gives an agent the tool format_final_json_response',
		usedBy: [],
		observe: async (n8n) => {
			const { getTools } = n8n.load<{
				readonly getTools: (context: object, parser: object) => Promise<{ name: string }[]>;
			}>(TOOLS_AGENT);
			const { z } = n8n.load<{ z: { object(shape: object): object } }>('zod');
			const context = {
				getInputConnectionData: () => Promise.resolve([]),
				getNode: () => ({ name: 'AI Agent', typeVersion: 3.1 }),
			};
			const tools = await getTools(context, { getSchema: () => z.object({}) });
			return tools.map(({ name }) => name);
		},
		expected: ['format_final_json_response'],
		without: {
			modules: { [TOOLS_AGENT]: () => ({ getTools: () => Promise.resolve([]) }) },
		},
		lost: [],
	},
	{
		n: 26,
		name: 'the URL that n8n signs for a file has /binary-data/signed?token=',
		usedBy: ['isSignedUrl'],
		observe: async (n8n) =>
			await inNode(n8n, ({ helpers }) => {
				const file = { id: 'filesystem-v2:a', data: '', mimeType: 'image/png' };
				const url = helpers.createBinarySignedUrl(file, '1 hour');
				return url.replace(/[^?=/]+$/, '…');
			}),
		expected: 'http://localhost/rest/binary-data/signed?token=…',
		without: {
			context: ({ helpers }) => ({
				helpers: {
					...helpers,
					createBinarySignedUrl: () => 'http://localhost/rest/files?sig=x',
				},
			}),
		},
		lost: 'http://localhost/rest/files?sig=…',
		engine2: 'same',
	},
	{
		n: 27,
		name: 'chunks reach the chat in their order, each as the node has sent it',
		usedBy: [],
		observe: async (n8n) => {
			const { ExecutionLifecycleHooks } = n8n.load<typeof N8nCore>('n8n-core');
			const hooks = new ExecutionLifecycleHooks('manual', '1', { nodes: [] } as never);
			const said: unknown[] = [];
			hooks.addHandler('sendChunk', ({ type, content }) => {
				said.push(type, content);
			});
			await inNode(
				n8n,
				async (context) => {
					context.sendChunk('begin', 0);
					context.sendChunk('item', 0, '\n\n');
					context.sendChunk('item', 0, 'Hi');
					context.sendChunk('end', 0);
					await Promise.resolve();
				},
				{ additional: { hooks, streamingEnabled: true } },
			);
			return said;
		},
		expected: ['begin', undefined, 'item', '\n\n', 'item', 'Hi', 'end', undefined],
		without: { context: () => ({ sendChunk: () => undefined }) },
		lost: [],
	},
	{
		n: 30,
		name: 'n8n replaces the message of an error whose details have `code`, and no other key of ours',
		usedBy: [],
		observe: (n8n) => {
			const { NodeApiError } = n8n.load<typeof N8nWorkflow>('n8n-workflow');
			const node = { id: '1', name: 'Video', type: 'x', typeVersion: 1 } as never;
			const messageOf = (details: object) =>
				new NodeApiError(node, details as never, { description: 'ours' }).message;
			return [{ code: 'ECONNREFUSED' }, { transport_code: 'ECONNREFUSED' }].map((details) =>
				messageOf(details).includes('refused'),
			);
		},
		expected: [true, false],
		without: {
			modules: {
				'n8n-workflow': () => ({
					NodeApiError: class extends Error {},
				}),
			},
		},
		lost: [false, false],
	},
];
