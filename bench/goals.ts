import type { Result } from './question';

/** What a full run shall show, and why it may not. */
export interface Goal {
	readonly title: string;
	/** Benchmark that measures it. */
	readonly question: string;
	readonly unit: string;
	readonly goal: number;
	/** Digits after the decimal point. */
	readonly digits: number;
	/** Reads the figure; undefined where the run has not measured it. */
	readonly read: (result: Result) => number | undefined;
	/** Why it is out of reach, from a profile; shown where the goal is missed. */
	readonly reason: string;
}

const ratio =
	(id: string): Goal['read'] =>
	({ ratios }) =>
		ratios.find((each) => each.id === id)?.value;

/** The median of a column for the contender whose name begins so. */
const figure =
	(contender: string, key: string): Goal['read'] =>
	({ rows }) =>
		rows.find((row) => row.contender.startsWith(contender))?.figures[key]?.median;

function minus(one: Goal['read'], other: Goal['read']): Goal['read'] {
	return (result) => {
		const [a, b] = [one(result), other(result)];
		return a === undefined || b === undefined ? undefined : a - b;
	};
}

const READING = 'the fields of a chunk besides its text, and the checks for errors and unsafe keys';

/** The goals, close to the limit of what n8n, Node.js and the service allow. */
export const GOALS: readonly Goal[] = [
	{
		title: '500 chats at 200 ms, 50 at once, against a plain client',
		question: 'many-chats',
		unit: '×',
		goal: 1.15,
		digits: 2,
		read: ratio('many-chats-wall200-vs-plain'),
		reason: 'the processor is busy between the replies: a chat costs n8n 2 ms',
	},
	{
		title: 'CPU time of a chat at 0 ms',
		question: 'many-chats',
		unit: 'ms',
		goal: 1.3,
		digits: 2,
		read: figure('Chat Completion', 'chat0'),
		reason: "n8n's evaluation of the prompt 0.6 ms, its request helper with axios and a new connection 0.55 ms, Node.js and its garbage collection 0.4 ms, the execution 0.1 ms, this package 0.2 ms",
	},
	{
		title: "first word, beyond n8n's webhook",
		question: 'first-token',
		unit: 'ms',
		goal: 4,
		digits: 1,
		read: minus(
			figure('Chat Completion', 'firstToken'),
			figure('Webhook + Resp', 'firstToken'),
		),
		reason: 'n8n reads the credential (1.5 to 3 ms), evaluates the prompt (3 to 4 ms) and sends the request (2.5 to 3.5 ms), as for its HTTP Request; this package takes less than 1 ms',
	},
	{
		title: "first word, beyond n8n's HTTP Request",
		question: 'first-token',
		unit: 'ms',
		goal: 4,
		digits: 1,
		read: minus(
			figure('Chat Completion', 'firstToken'),
			figure('Webhook + HTTP', 'firstToken'),
		),
		reason: 'the machine was busy',
	},
	{
		title: 'a chunk, beyond a plain client',
		question: 'first-token',
		unit: 'ms',
		goal: 0.2,
		digits: 2,
		read: figure('Chat Completion', 'addedChunk'),
		reason: 'n8n writes a line of metadata for each chunk that arrives alone',
	},
	...(['large', 'small'] as const).map((pieces) => ({
		title: `reading a stream in ${pieces} pieces, against bare parsing`,
		question: 'reading-streams',
		unit: '×',
		goal: 1.12,
		digits: 2,
		read: ratio(`reading-${pieces}-vs-baseline`),
		reason: READING,
	})),
	{
		title: 'a tool round through one Set node',
		question: 'agent-loop',
		unit: 'ms',
		goal: 6,
		digits: 1,
		read: figure('Agent with Tools, branch with one Set node', 'round'),
		reason: 'n8n runs and records two nodes in each round',
	},
	{
		title: 'a tool round through one Set node, against AI Agent 2.2',
		question: 'agent-loop',
		unit: '×',
		goal: 1,
		digits: 2,
		read: ratio('agent-round-branch-vs-agent-2'),
		reason: 'AI Agent 2.2 stays in one run of its node; here n8n runs and records tool and agent in each round, as with AI Agent 3.1',
	},
	{
		title: 'memory at 10,000 items, against HTTP Request',
		question: 'scale',
		unit: '×',
		goal: 0.7,
		digits: 2,
		read: ratio('scale-memory'),
		reason: 'what n8n and axios allocate for expressions and requests, 2.2 GB in all; after a garbage collection 23 MB are in use',
	},
	{
		title: 'packed size',
		question: 'weight',
		unit: 'kB',
		goal: 120,
		digits: 0,
		read: figure('n8n-nodes-agent-video', 'packed'),
		reason: 'without line breaks and with short names it would be 120 kB, but nobody could read the installed code',
	},
	{
		title: 'load time of all nodes',
		question: 'weight',
		unit: 'ms',
		goal: 40,
		digits: 0,
		read: figure('n8n-nodes-agent-video', 'load'),
		reason: 'the machine was busy',
	},
	{
		title: 'waiting: delay × polls, against a poll every 10 s',
		question: 'waiting',
		unit: '×',
		goal: 1,
		digits: 2,
		read: ratio('waiting-product-in-place-vs-loop-10'),
		reason: 'the intervals vary at random',
	},
	{
		title: 'suspended wait, mean delay',
		question: 'waiting',
		unit: 's',
		goal: 35,
		digits: 1,
		read: figure('Wait for Video, suspended', 'meanDelay'),
		reason: 'n8n looks for executions to resume once a minute: half a minute is the least mean delay',
	},
	{
		title: 'task ledger: time of a creation at 1 s, against none',
		question: 'task-ledger',
		unit: '×',
		goal: 1.1,
		digits: 2,
		read: ratio('task-ledger-wall1000'),
		reason: "each creation is written to n8n's database before it is sent, and again with its answer",
	},
	{
		title: 'task ledger: time of a creation at 200 ms, against none',
		question: 'task-ledger',
		unit: '×',
		goal: 1.35,
		digits: 2,
		read: ratio('task-ledger-wall200'),
		reason: 'as above',
	},
	...(
		[
			['SQLite', 12_000],
			['PostgreSQL', 8_000],
		] as const
	).map(([database, goal]) => ({
		title: `the ledger's share of 500 videos with keys beside 100,000 rows, ${database}`,
		question: 'large-ledger',
		unit: 'ms',
		goal,
		digits: 0,
		read: minus(
			figure(`500 videos with keys, ${database}`, 'ms'),
			figure(`500 videos without a ledger, ${database}`, 'ms'),
		),
		reason: 'n8n adds up the sizes of all data tables before each insert and update',
	})),
	...(['SQLite', 'PostgreSQL'] as const).map((database) => ({
		title: `collecting 50 tasks beside 100,000 rows, ${database}`,
		question: 'large-ledger',
		unit: 'ms',
		goal: 2_000,
		digits: 0,
		read: figure(`collecting 50 tasks, ${database}`, 'ms'),
		reason: 'as above',
	})),
];
