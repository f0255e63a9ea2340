import axios from 'axios';

import { binaryOf, failureOf, outputItems } from '../../lab/n8n/execution';
import { chatText, streamWebhook } from '../../lab/n8n/streamChat';
import type { Workflow } from '../../lab/n8n/workflow';
import {
	events,
	startScriptedServer,
	type Script,
	type ScriptedServer,
} from '../support/scriptedServer';
import { node, workflow } from './support/buildWorkflow';
import { heldReply, text } from './support/heldReply';
import { RUN_LIMIT_MS, SET_UP_LIMIT_MS, startSession, type Session } from './support/session';

const CHAT = 'n8n-nodes-agent-video.chatCompletion';

let session: Session;
/** A service with scripted responses. */
let scripted: ScriptedServer;
let answer: Script;

beforeAll(async () => {
	session = await startSession({ videoSeconds: 1 });
	scripted = await startScriptedServer((...args) => {
		answer(...args);
	});
	const save = async (name: string, baseUrl: string) => {
		await session.client.createCredential({
			name,
			type: 'agentVideoApi',
			data: { baseUrl, apiKey: 'demo-key' },
		});
	};
	await save('Emulator', session.emulator.url);
	await save('Scripted', scripted.url);
	await save('On the internet', 'https://api.example.com');
}, SET_UP_LIMIT_MS);

afterAll(async () => {
	await scripted.stop();
	await session.stop();
}, RUN_LIMIT_MS);

describe('a webhook in streaming mode', () => {
	const streaming = (path: string, onError?: string) =>
		workflow(`Stream ${path}`, [
			node('Webhook', 'n8n-nodes-base.webhook', 2.1, {
				parameters: { httpMethod: 'POST', path, responseMode: 'streaming' },
				webhookId: path,
			}),
			node('Answer', CHAT, 1, {
				parameters: { prompt: '={{ $json.body.question }}' },
				credential: 'Scripted',
				...(onError === undefined ? {} : { onError }),
			}),
		]);

	it(
		'delivers the first chunk before the service has sent the last one',
		async () => {
			const { client, n8n } = session;
			const ref = await client.importWorkflow(streaming('first-chunk'));
			await client.activate(ref);

			const reply = heldReply([text('The first ')], [text('and the last.')]);
			answer = reply.script;
			let finishedAtFirstItem: boolean | undefined;
			const url = `${n8n.url}/webhook/first-chunk`;
			const lines = await streamWebhook(url, { question: 'Hi' }, ({ type }) => {
				if (type !== 'item' || finishedAtFirstItem !== undefined) return;
				finishedAtFirstItem = reply.isFinished();
				// The service continues only after the first chunk has arrived.
				reply.finish();
			});
			expect(finishedAtFirstItem).toBe(false);
			expect(lines.map(({ type, content }) => [type, content])).toStrictEqual([
				['begin', undefined],
				['item', 'The first '],
				['item', 'and the last.'],
				['end', undefined],
			]);
			const [item] = outputItems(await client.lastExecution(ref), 'Answer');
			expect(item!.json['output']).toBe('The first and the last.');
		},
		RUN_LIMIT_MS,
	);

	it(
		'streams the error if the node continues on failure',
		async () => {
			const { client, n8n } = session;
			await client.activate(
				await client.importWorkflow(streaming('fails', 'continueRegularOutput')),
			);
			answer = (response) => {
				events(response, [text('Half a ')]);
			};
			const lines = await streamWebhook(`${n8n.url}/webhook/fails`, { question: 'Hi' });
			expect(chatText(lines)).toBe(
				'Half a \n\n> The stream ended before the reply was complete. Try again in a minute.\n\n',
			);
			expect(lines.map(({ type }) => type)).toStrictEqual(['begin', 'item', 'item', 'end']);
		},
		RUN_LIMIT_MS,
	);
});

it(
	'is complete although its stream is cut inside [DONE], and its files are media',
	async () => {
		const { client } = session;
		const ref = await client.importWorkflow(
			workflow('Cut end', [
				node('Start', 'n8n-nodes-base.manualTrigger', 1),
				node('Answer', CHAT, 1, { parameters: { prompt: 'Hi' }, credential: 'Scripted' }),
			]),
		);
		const picture = { type: 'image_url', image_url: { url: 'https://cdn.example/77' } };
		const content = [{ type: 'text', text: 'A lake' }, picture];
		const chunks = [{ delta: { content } }, { delta: {}, finish_reason: 'stop' }].map(
			(choice) => `data: ${JSON.stringify({ choices: [{ index: 0, ...choice }] })}\n\n`,
		);
		answer = (response) => {
			response.writeHead(200, { 'content-type': 'text/event-stream' });
			response.end(`data:\n\n${chunks.join(': alive\n\n')}data: [DO`);
		};
		const execution = await client.waitForExecution(await client.run(ref, 'Start'));
		const [item] = outputItems(execution, 'Answer');
		expect(item!.json).toMatchObject({
			output: 'A lake',
			media: [{ kind: 'image', url: 'https://cdn.example/77' }],
			finish_reason: 'stop',
		});
	},
	RUN_LIMIT_MS,
);

describe('an image from binary data', () => {
	const withPicture = (name: string, credential: string) =>
		workflow(name, [
			node('Start', 'n8n-nodes-base.manualTrigger', 1),
			node('Text', 'n8n-nodes-base.set', 3.4, {
				parameters: { mode: 'raw', jsonOutput: '{"text": "not really a picture"}' },
			}),
			node('File', 'n8n-nodes-base.convertToFile', 1.1, {
				parameters: { operation: 'toText', sourceProperty: 'text' },
			}),
			node('Answer', CHAT, 1, {
				parameters: {
					prompt: 'What is in this picture?',
					answeredBy: 'app',
					appCode: 'demo-app',
					images: { image: [{ source: 'binary', binaryProperty: 'data' }] },
				},
				credential,
			}),
		]);
	const run = async (drawn: Workflow) => {
		const { client } = session;
		const ref = await client.importWorkflow(drawn);
		return await client.waitForExecution(await client.run(ref, 'Start'));
	};

	it(
		'is sent to the service as a URL that needs no sign-in',
		async () => {
			const { journal } = session.emulator;
			journal.clear();
			const execution = await run(withPicture('Picture', 'Emulator'));
			expect(execution.status).toBe('success');

			const [request] = journal.of('/v1/chat/completions');
			const { messages } = request!.body as {
				messages: { content: { image_url?: { url: string } }[] }[];
			};
			const { url } = messages[0]!.content[1]!.image_url!;
			const file = await axios.get<string>(url, { proxy: false, responseType: 'text' });
			expect(file.data).toBe('not really a picture');
		},
		RUN_LIMIT_MS,
	);

	it(
		'is rejected if the service cannot reach this n8n',
		async () => {
			const execution = await run(withPicture('Picture far away', 'On the internet'));
			expect(failureOf(execution)).toMatch(
				/^Answer: Images: entry 1 would be published at http:\/\/127\.0\.0\.1:\d+, which the service cannot reach/,
			);
		},
		RUN_LIMIT_MS,
	);
});

it(
	'downloads an image of the reply as binary data',
	async () => {
		const { client, emulator } = session;
		const ref = await client.importWorkflow(
			workflow('Media', [
				node('Start', 'n8n-nodes-base.manualTrigger', 1),
				node('Answer', CHAT, 1, {
					parameters: {
						prompt: 'Draw a picture of a lighthouse',
						answeredBy: 'app',
						appCode: 'demo-app',
						options: { downloadMedia: true },
					},
					credential: 'Emulator',
				}),
			]),
		);
		emulator.journal.clear();
		const execution = await client.waitForExecution(await client.run(ref, 'Start'));
		const [item] = outputItems(execution, 'Answer');
		const [{ url }] = item!.json['media'] as [{ url: string }];
		expect(item!.json['media']).toStrictEqual([{ kind: 'image', url, binary: 'media_0' }]);
		const picture = binaryOf(item!, 'media_0');
		expect(picture.mimeType).toBe('image/jpeg');
		const there = await axios.get<ArrayBuffer>(url, {
			proxy: false,
			responseType: 'arraybuffer',
		});
		expect(await client.download(picture)).toStrictEqual(Buffer.from(there.data));
		expect(emulator.journal.of(new URL(url).pathname)).toMatchObject([
			{ authorized: false },
			{ authorized: false },
		]);
	},
	RUN_LIMIT_MS,
);

it(
	'saves the token usage in the execution, where n8n shows it',
	async () => {
		const { client } = session;
		const ref = await client.importWorkflow(
			workflow('Tokens', [
				node('Start', 'n8n-nodes-base.manualTrigger', 1),
				node('Answer', CHAT, 1, {
					parameters: { prompt: 'Hello' },
					credential: 'Emulator',
				}),
			]),
		);
		const execution = await client.waitForExecution(await client.run(ref, 'Start'));
		const [item] = outputItems(execution, 'Answer');
		const usage = item!.json['usage'] as { prompt_tokens: number; completion_tokens: number };
		expect(usage.prompt_tokens).toBeGreaterThan(0);
		expect(execution.data.resultData.runData['Answer']![0]!.metadata).toMatchObject({
			tokenUsage: { inputTokens: usage.prompt_tokens, outputTokens: usage.completion_tokens },
		});
	},
	RUN_LIMIT_MS,
);
