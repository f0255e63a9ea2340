import { drawn, node, withSubNodes, workflow } from '../../test/e2e/support/buildWorkflow';
import type { Workflow } from '../../lab/n8n/workflow';
import { modelById, langchain, openAiModel, ourNode, webhook } from '../n8n/nodes';
import { spanMs } from '../n8n/startInstance';
import { toFigures } from '../measure/figure';
import { interleave } from '../measure/interleave';
import { measuredOf, type Contender, type Question, type Row } from '../question';
import { modelName } from '../server/behavior';

const REPEATS = { full: 7, quick: 3 };
/** Rounds, and tool calls per round, of the runs whose differences are measured. */
const SHORT = { rounds: 1, calls: 1 };
const LONG = { rounds: 11, calls: 1 };
const WIDE = { rounds: 11, calls: 5 };

type Shape = typeof SHORT;

interface AgentContender extends Contender {
	readonly workflow: (serverUrl: string, path: string, shape: Shape) => Workflow;
}

const TOOL = {
	name: 'calculate',
	description: 'Calculates a sum',
	define: 'fields',
	parameters: { parameter: [{ name: 'input', type: 'string', required: true }] },
};
const PROMPT = '={{ $json.body.question }}';

const agentWithTools = (shape: Shape, parameters: object) =>
	ourNode('Agent', 'functionCallingAgent', {
		prompt: PROMPT,
		model: modelById(modelName(shape)),
		...parameters,
		options: { maxRounds: 2_000, maxCalls: 2_000 },
	});

/** Agent with Tools with one tool: a branch with one Set node. */
export const withBranch =
	(runCalls: string): AgentContender['workflow'] =>
	(_serverUrl, path, shape) =>
		drawn(
			path,
			[
				webhook(path, 'lastNode'),
				agentWithTools(shape, { tools: { tool: [TOOL] }, options: { runCalls } }),
				node('Calculate', 'n8n-nodes-base.set', 3.4, {
					parameters: { mode: 'raw', jsonOutput: '={{ { "sum": $json.input.length } }}' },
				}),
			],
			{ Webhook: [['Agent']], Agent: [[], [], ['Calculate']], Calculate: [['Agent']] },
		);

const calculator = () => langchain('Calculator', 'toolCalculator', 1);

const aiAgent =
	(version: number): AgentContender['workflow'] =>
	(serverUrl, path, shape) =>
		withSubNodes(
			workflow(path, [
				webhook(path, 'lastNode'),
				langchain('Agent', 'agent', version, {
					promptType: 'define',
					text: PROMPT,
					options: { maxIterations: 30 },
				}),
			]),
			'Agent',
			[
				[openAiModel(serverUrl, modelName(shape)), 'ai_languageModel'],
				[calculator(), 'ai_tool'],
			],
		);

const BRANCH = 'Agent with Tools, branch with one Set node';
const CALCULATOR = 'Agent with Tools, Calculator tool';
const AGENT = 'AI Agent 3.1, Calculator tool';
const AGENT_2 = 'AI Agent 2.2, Calculator tool';

const CONTENDERS: readonly AgentContender[] = [
	{ name: BRANCH, isBounded: true, workflow: withBranch('oneAtATime') },
	{
		name: 'Agent with Tools, branch with one Set node, all calls of a round at once',
		workflow: withBranch('allAtOnce'),
	},
	{
		name: CALCULATOR,
		isBounded: true,
		workflow: (_serverUrl, path, shape) =>
			withSubNodes(
				workflow(path, [webhook(path, 'lastNode'), agentWithTools(shape, {})]),
				'Agent',
				[[calculator(), 'ai_tool']],
			),
	},
	{ name: AGENT, isBounded: true, workflow: aiAgent(3.1) },
	{ name: AGENT_2, workflow: aiAgent(2.2) },
];

interface Comparison {
	readonly id: string;
	readonly isBounded?: true;
	/** Names of contenders. */
	readonly own: string;
	readonly other: string;
	readonly calls: number;
	readonly reason?: string;
}

const IN_ONE_RUN = 'AI Agent 2.2 stays in [one run](#goals)';

const COMPARISONS: readonly Comparison[] = [
	{ id: 'round-branch-vs-agent', isBounded: true, own: BRANCH, other: AGENT, calls: 1 },
	{ id: 'round-calculator-vs-agent', isBounded: true, own: CALCULATOR, other: AGENT, calls: 1 },
	{ id: 'wide-round-calculator-vs-agent', own: CALCULATOR, other: AGENT, calls: WIDE.calls },
	{ id: 'round-branch-vs-agent-2', own: BRANCH, other: AGENT_2, calls: 1, reason: IN_ONE_RUN },
	{
		id: 'round-calculator-vs-agent-2',
		own: CALCULATOR,
		other: AGENT_2,
		calls: 1,
		reason: IN_ONE_RUN,
	},
];

export const AGENT_LOOP: Question = {
	id: 'agent-loop',
	title: 'Agent loop',
	method: `The model calls tools in 1 or 11 rounds, with 1 or 5 calls each. *Per round* is the difference between 11 rounds and 1,
divided by 10. *Per additional call* is the difference between 5 calls and 1 in 11 rounds, divided by 44. Times are from the end
of the trigger to the end of the last node.`,
	run: async (bench) => {
		const { quick, guard, server, n8n: shared, onProgress } = bench;
		const contenders = measuredOf(CONTENDERS, bench);
		// No bound compares additional calls.
		const shapes = guard ? [SHORT, LONG] : [SHORT, LONG, WIDE];
		const n8n = await shared();
		const runs: (() => Promise<{ round: number; call: number }>)[] = [];
		for (const [index, contender] of contenders.entries()) {
			const time: (() => Promise<number>)[] = [];
			for (const shape of shapes) {
				const path = `agent-${index}-${shape.rounds}-${shape.calls}`;
				const call = await n8n.install(contender.workflow(server.url, path, shape), path);
				time.push(async () => spanMs(await call({ question: 'How much?' }), 'Webhook'));
			}
			runs.push(async () => {
				const short = await time[0]!();
				const long = await time[1]!();
				const wide = guard ? long : await time[2]!();
				return {
					round: (long - short) / (LONG.rounds - SHORT.rounds),
					call: (wide - long) / (WIDE.rounds * (WIDE.calls - LONG.calls)),
				};
			});
		}
		onProgress(`${contenders.length} contenders, round-robin`);
		const measured = await interleave(runs, quick ? REPEATS.quick : REPEATS.full, (run) =>
			run(),
		);
		const figures = await Promise.all(measured.map((values) => toFigures(values)));
		const rows: Row[] = contenders.map(({ name }, index) => ({
			contender: name,
			figures: figures[index]!,
		}));
		// The cost of one more call can be smaller than its deviation, so it is compared as part of a round.
		const roundMs = (name: string, calls: number) => {
			const { round, call } = figures[contenders.findIndex((each) => each.name === name)]!;
			return round.median + (calls - 1) * call.median;
		};
		return {
			columns: [
				{ key: 'round', title: 'per round (ms)', digits: 1 },
				{ key: 'call', title: 'per additional call (ms)', digits: 1 },
			],
			rows,
			ratios: measuredOf(COMPARISONS, bench).map(({ id, own, other, calls, reason }) => ({
				id: `agent-${id}`,
				label: `round with ${calls === 1 ? '1 call' : `${calls} calls`}, ${own} vs. ${other}`,
				value: roundMs(own, calls) / roundMs(other, calls),
				...(reason === undefined ? {} : { reason }),
			})),
		};
	},
};
