import { setTimeout as sleep } from 'node:timers/promises';

import { node, withSubNodes, workflow } from '../../test/e2e/support/buildWorkflow';
import type { Workflow } from '../../lab/n8n/workflow';
import { byId, langchain, openAiModel, ours, webhook } from '../lab/nodes';
import { toFigures } from '../measure/figure';
import { interleave } from '../measure/interleave';
import { readStream } from '../measure/readStream';
import type { Question, Row } from '../question';
import { barPlot } from '../report/plots';
import { modelName } from '../server/behaviour';

const REPEATS = { full: 21, quick: 7 };
const MODEL = modelName({ chunks: 40, gapMs: 5 });
const PROMPT = '={{ $json.body.question }}';
const REGISTRATION_MS = 500;

interface Contender {
	readonly name: string;
	readonly note?: string;
	/** Missing for the client that asks the server itself. */
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
				ours('Chat', 'chatCompletion', { prompt: PROMPT, model: byId(MODEL) }),
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
				[ours('Model', 'agentVideoChatModel', { model: byId(MODEL) }), 'ai_languageModel'],
			]),
	},
	{
		name: 'Webhook + Respond to Webhook, no model',
		note: "n8n's own part of every first word",
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
	{ name: 'plain client, no n8n (floor)' },
];

export const FIRST_WORD: Question = {
	id: 'first-word',
	title: 'First word',
	method: `A client asks the streaming webhook of a workflow; the model's 40 chunks come 5 ms apart. *First word* is the time from
the request to the first streamed text at the client, *until sent* the part of it that passes before the server sends that text,
*per chunk* what lies between the server's sending of a later chunk and its arrival at the client (each chunk carries the time
at which it was sent). What a client without n8n needs is the floor; *beyond the floor* is what n8n and the node add.`,
	run: async ({ quick, server, lab: shared, say }) => {
		const lab = await shared();
		const direct = {
			model: MODEL,
			stream: true,
			messages: [{ role: 'user', content: 'Hello?' }],
		};
		const asks: (() => ReturnType<typeof readStream>)[] = [];
		for (const [index, contender] of CONTENDERS.entries()) {
			if (contender.workflow === undefined) {
				asks.push(() => readStream(`${server.url}/v1/chat/completions`, direct));
				continue;
			}
			const path = `first-word-${index}`;
			await lab.install(contender.workflow(server.url, path), path);
			asks.push(() => readStream(lab.webhook(path), { question: 'Hello?' }));
		}
		await sleep(REGISTRATION_MS);
		say(`${CONTENDERS.length} contenders, in turn`);
		const measured = await interleave(
			asks,
			quick ? REPEATS.quick : REPEATS.full,
			async (ask) => {
				const times = await ask();
				return { ...times };
			},
		);
		const figures = await Promise.all(measured.map((values) => toFigures(values)));
		const floor = figures.at(-1)!;
		const rows: Row[] = CONTENDERS.map(({ name, note }, index) => {
			const own = figures[index]!;
			const beyond = (key: 'firstWord' | 'perChunk') => ({
				...own[key],
				median: own[key].median - floor[key].median,
			});
			const first = { firstWord: own.firstWord, addedFirst: beyond('firstWord') };
			if (note !== undefined) return { contender: name, figures: first, note };
			return {
				contender: name,
				figures: { ...own, ...first, addedChunk: beyond('perChunk') },
			};
		});
		const [a, b] = rows;
		const ratio = (key: string) => a!.figures[key]!.median / b!.figures[key]!.median;
		return {
			columns: [
				{ key: 'firstWord', title: 'first word (ms)', digits: 1 },
				{ key: 'untilSent', title: 'until sent (ms)', digits: 1 },
				{ key: 'addedFirst', title: 'beyond the floor (ms)', digits: 1 },
				{ key: 'perChunk', title: 'per chunk (ms)', digits: 2 },
				{ key: 'addedChunk', title: 'per chunk beyond the floor (ms)', digits: 2 },
			],
			rows,
			ratios: [
				{
					id: 'first-word-vs-agent',
					label: 'first word, against AI Agent',
					value: ratio('firstWord'),
				},
				{
					id: 'first-word-chunk-vs-agent',
					label: 'per chunk, against AI Agent',
					value: ratio('perChunk'),
				},
			],
			plot: barPlot(rows, {
				title: 'First word through a streaming webhook',
				key: 'firstWord',
				unit: 'ms from the request to the first text',
			}),
		};
	},
};
