import { setTimeout as sleep } from 'node:timers/promises';

import { node, withSubNodes, workflow } from '../../test/e2e/support/buildWorkflow';
import type { Workflow } from '../../lab/n8n/workflow';
import { modelById, langchain, openAiModel, ourNode, webhook } from '../n8n/nodes';
import { toFigures } from '../measure/figure';
import { interleave } from '../measure/interleave';
import { readStream } from '../measure/readStream';
import type { Question, Row } from '../question';
import { barPlot } from '../report/plots';
import { modelName } from '../server/behavior';

const REPEATS = { full: 21, quick: 7 };
const MODEL = modelName({ chunks: 40, gapMs: 5 });
const PROMPT = '={{ $json.body.question }}';
const REGISTRATION_MS = 500;

interface Contender {
	readonly name: string;
	readonly note?: string;
	/** Missing for the client that calls the server directly. */
	readonly workflow?: (serverUrl: string, path: string) => Workflow;
}

const agent = (path: string) =>
	workflow(path, [
		webhook(path, 'streaming'),
		langchain('Agent', 'agent', 3.1, {
			promptType: 'define',
			text: PROMPT,
			options: { enableStreaming: true },
		}),
	]);

const CONTENDERS: readonly Contender[] = [
	{
		name: 'Chat Completion',
		workflow: (_serverUrl, path) =>
			workflow(path, [
				webhook(path, 'streaming'),
				ourNode('Chat', 'chatCompletion', { prompt: PROMPT, model: modelById(MODEL) }),
			]),
	},
	{
		name: 'AI Agent 3.1 + OpenAI Chat Model',
		workflow: (serverUrl, path) =>
			withSubNodes(agent(path), 'Agent', [
				[openAiModel(serverUrl, MODEL), 'ai_languageModel'],
			]),
	},
	{
		name: 'AI Agent 3.1 + Agent Video Chat Model',
		workflow: (_serverUrl, path) =>
			withSubNodes(agent(path), 'Agent', [
				[
					ourNode('Model', 'agentVideoChatModel', { model: modelById(MODEL) }),
					'ai_languageModel',
				],
			]),
	},
	{
		name: 'Webhook + Respond to Webhook, no model',
		note: 'the share of n8n itself',
		workflow: (_serverUrl, path) =>
			workflow(path, [
				webhook(path, 'responseNode'),
				node('Respond', 'n8n-nodes-base.respondToWebhook', 1.5, {
					parameters: {
						respondWith: 'text',
						responseBody: '={{ $now.toMillis() }}.000\n{{ $now.toMillis() }}.000',
					},
				}),
			]),
	},
	{ name: 'plain client, no n8n (baseline)' },
];

export const FIRST_TOKEN: Question = {
	id: 'first-token',
	title: 'Time to first token',
	method: `A client calls the streaming webhook of a workflow; the model sends 40 chunks, 5 ms apart. *First token* is the time from
the request until the client receives the first text; *until sent* is the part of it before the server sends that text. *Per
chunk* is the time between the server sending a later chunk and the client receiving it (each chunk contains its send time). The
baseline is a client without n8n; *over baseline* is what n8n and the node add.`,
	run: async ({ quick, server, n8n: shared, onProgress }) => {
		const n8n = await shared();
		const direct = {
			model: MODEL,
			stream: true,
			messages: [{ role: 'user', content: 'Hello?' }],
		};
		const requests: (() => ReturnType<typeof readStream>)[] = [];
		for (const [index, contender] of CONTENDERS.entries()) {
			if (contender.workflow === undefined) {
				requests.push(() => readStream(`${server.url}/v1/chat/completions`, direct));
				continue;
			}
			const path = `first-token-${index}`;
			await n8n.install(contender.workflow(server.url, path), path);
			requests.push(() => readStream(n8n.webhook(path), { question: 'Hello?' }));
		}
		await sleep(REGISTRATION_MS);
		onProgress(`${CONTENDERS.length} contenders, round-robin`);
		const measured = await interleave(
			requests,
			quick ? REPEATS.quick : REPEATS.full,
			async (request) => {
				const times = await request();
				return { ...times };
			},
		);
		const figures = await Promise.all(measured.map((values) => toFigures(values)));
		const baseline = figures.at(-1)!;
		const rows: Row[] = CONTENDERS.map(({ name, note }, index) => {
			const own = figures[index]!;
			const overBaseline = (key: 'firstToken' | 'perChunk') => ({
				...own[key],
				median: own[key].median - baseline[key].median,
			});
			const first = { firstToken: own.firstToken, addedFirst: overBaseline('firstToken') };
			if (note !== undefined) return { contender: name, figures: first, note };
			return {
				contender: name,
				figures: { ...own, ...first, addedChunk: overBaseline('perChunk') },
			};
		});
		const [a, b] = rows;
		const ratio = (key: string) => a!.figures[key]!.median / b!.figures[key]!.median;
		return {
			columns: [
				{ key: 'firstToken', title: 'first token (ms)', digits: 1 },
				{ key: 'untilSent', title: 'until sent (ms)', digits: 1 },
				{ key: 'addedFirst', title: 'over baseline (ms)', digits: 1 },
				{ key: 'perChunk', title: 'per chunk (ms)', digits: 2 },
				{ key: 'addedChunk', title: 'per chunk, over baseline (ms)', digits: 2 },
			],
			rows,
			ratios: [
				{
					id: 'first-token-vs-agent',
					label: 'first token, Chat Completion vs. AI Agent + OpenAI Chat Model',
					value: ratio('firstToken'),
				},
				{
					id: 'first-token-chunk-vs-agent',
					label: 'per chunk, Chat Completion vs. AI Agent + OpenAI Chat Model',
					value: ratio('perChunk'),
				},
			],
			plot: barPlot(rows, {
				title: 'Time to first token through a streaming webhook',
				key: 'firstToken',
				unit: 'ms from the request to the first text',
			}),
		};
	},
};
