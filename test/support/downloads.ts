import type { ServerResponse } from 'node:http';

import type { IBinaryData, IDataObject } from 'n8n-workflow';

import { bodyOf, fails, STOP } from './chatReplies';
import { runNode, type RunOptions } from './engine';
import { withFakeTimers, type FakeTime } from './fakeTimers';
import { json, startScriptedServer, type ScriptedServer, type SeenRequest } from './scriptedServer';
import { COMPLETED, FAILED } from './waitOutputs';
import { ids, taskOf } from './waitRuns';

/** Answers a request for a file; `index` counts those before it. */
export type Host = (response: ServerResponse, request: SeenRequest, index: number) => void;

/** A host that answers every request with this body. */
export const answer =
	(type: string | undefined, body: string | Buffer, status = 200): Host =>
	(response) => {
		response.writeHead(status, type === undefined ? {} : { 'content-type': type }).end(body);
	};

/** A body with its length. */
export const withLength =
	(body: Buffer, headers: Record<string, string> = {}, status = 200): Host =>
	(response) => {
		response.writeHead(status, { 'content-length': body.length, ...headers }).end(body);
	};

/** A host that answers each request as the host that is chosen for it. */
export const choose =
	(hostOf: (index: number, path: string) => Host): Host =>
	(response, request, index) => {
		hostOf(index, request.path)(response, request, index);
	};

/** What errors of Wait for Video end with. */
export const HINT = 'The video is completed: open its URL, or run Wait for Video with this task ID';

/**
 * The service with a file host at /cdn/, on one server for the file that calls this. Every task is completed, with the URL
 * /cdn/TASK.mp4; a chat is answered with what `says` returns.
 */
export function downloads() {
	let server: ScriptedServer;
	let time: FakeTime | undefined;
	const seen = (path: string) =>
		server.requests.filter((request) => request.path.startsWith(path));

	const scene = {
		host: answer(undefined, ''),
		/** What the service reports of a task at each poll, the last report for all that follow. */
		reports: [] as readonly object[],
		/** The content of a chat reply to a question, or the status of an error. */
		says: (() => undefined) as (question: string) => unknown,
		/** Fields of the service beside its reply. */
		beside: {} as object,
		/** When each request for a file came, in milliseconds of virtual time. */
		times: [] as number[],
		get url() {
			return server.url;
		},
		files: () => seen('/cdn/'),
		polls: () => seen('/v1/'),
		/** Seconds between the requests for a file. */
		pauses: () =>
			scene.times.slice(1).map((at, index) => Math.round((at - scene.times[index]!) / 1000)),

		/** Runs Wait for Video in real time. */
		async run(options: object = {}, more: Partial<RunOptions> = {}) {
			return await runNode('waitForVideo', {
				credential: { baseUrl: server.url, apiKey: 'k-secret' },
				items: ids('task-1'),
				...more,
				parameters: { options, ...more.parameters },
			});
		},

		/** Runs Wait for Video while time jumps: what became of the first item, and the whole result. */
		async wait(options: object = {}, more: Partial<RunOptions> = {}) {
			return await withFakeTimers(async (fake) => {
				time = fake;
				const result = await scene.run(options, more);
				const [item] = [
					...(result.outputs[COMPLETED] ?? []),
					...(result.outputs[FAILED] ?? []),
				];
				return {
					...result,
					isCompleted: result.outputs[COMPLETED]?.length === 1,
					fields: item?.json ?? {},
					error: item?.json['error_message'],
					file: item?.binary?.['data'],
					passedMs: fake.passedMs(),
				};
			});
		},

		/** Lets Chat Completion download the media of a reply: the entries of `media`, each with its binary field. */
		async media(content: unknown, options: object = {}, more: Partial<RunOptions> = {}) {
			scene.says = () => content;
			return await withFakeTimers(async (fake) => {
				time = fake;
				const { outputs } = await runNode('chatCompletion', {
					credential: { baseUrl: server.url, apiKey: 'k' },
					items: [{ chatInput: 'Show me' }],
					...more,
					parameters: { streaming: 'off', options: { downloadMedia: true, ...options } },
				});
				const { json: fields, binary = {} } = outputs[0]![0]!;
				const entries = (fields['media'] ?? []) as IDataObject[];
				const media = entries.map((entry): IDataObject => {
					const file: Partial<IBinaryData> = binary[String(entry['binary'])] ?? {};
					return { ...entry, fileName: file.fileName, mimeType: file.mimeType };
				});
				return { media, passedMs: fake.passedMs() };
			});
		},

		/** Lets time pass although a response is not finished. */
		hold(response: ServerResponse) {
			time!.hold(response);
		},
	};

	beforeAll(async () => {
		server = await startScriptedServer((response, request) => {
			// A proxy gets the whole URL.
			const path = request.path.replace(/^http:\/\/[^/]+/, '');
			if (path.startsWith('/cdn/')) {
				scene.times.push(Math.round(time?.passedMs() ?? 0));
				scene.host(response, request, scene.files().length - 1);
			} else if (path.endsWith('/chat/completions')) {
				const { messages } = request.body as { messages: { content: string }[] };
				const content = scene.says(messages.at(-1)!.content);
				if (typeof content === 'number') fails(content)(response, request, 0);
				else json(response, 200, bodyOf({ content }, STOP, scene.beside));
			} else {
				const video_url = `${server.url}/cdn/${taskOf(request.body)}.mp4`;
				const report =
					scene.reports[Math.min(scene.polls().length, scene.reports.length) - 1];
				json(response, 200, { status: 'completed', video_url, ...report });
			}
		});
	});
	beforeEach(() => {
		scene.reports = [];
		scene.times = [];
		time = undefined;
	});
	afterEach(() => {
		server.requests.length = 0;
	});
	afterAll(async () => {
		await server.stop();
	});
	return scene;
}
