// @seconds 5
import { failureOf, outputItems, type Execution } from '../../lab/n8n/execution';
import type { ToolCall } from '../../nodes/client/chat/types';
import { answersOf, useAgentSession } from './support/agentSession';
import { node } from './support/buildWorkflow';
import { askFirst, DECLINED } from './support/askFirst';
import { base, draw, type Drawing } from './support/drawAgent';
import { startMailbox, type Button, type Mailbox } from './support/mailbox';
import { call, results } from './support/scriptedModel';
import { RUN_LIMIT_MS, SET_UP_LIMIT_MS } from './support/session';

const ROME = call('c1', 'book', { city: 'Rome' });
const OSLO = call('c2', 'book', { city: 'Oslo' });

const agent = useAgentSession();
let mailbox: Mailbox;

beforeAll(async () => {
	mailbox = agent.keep(await startMailbox(agent.client));
}, SET_UP_LIMIT_MS);

const book = (): Drawing => ({ tools: ['book'], ...askFirst('book') });

/** Executes an agent while a person clicks these buttons, one for each mail. */
async function runApproved(drawing: Drawing, buttons: readonly Button[]) {
	const workflow = draw(expect.getState().currentTestName!, drawing);
	const ref = await agent.client.importWorkflow(workflow);
	const run = await mailbox.run(ref, 'Start', (index) => buttons[index]!);
	return {
		...run,
		subjects: run.mails.map(({ subject }) => subject),
		answers: answersOf(run.execution),
	};
}

/** Scripts the model to request the calls of these rounds, and to answer with their results. */
function requests(...rounds: ToolCall[][]): void {
	agent.model.replyWith((messages) => {
		const round = messages.filter(({ role }) => role === 'assistant').length;
		return (
			rounds[round] ??
			results(messages)
				.map(({ content }) => content)
				.join(' ')
		);
	});
}

const runsOf = ({ data }: Execution, name: string) => data.resultData.runData[name] ?? [];

it.each([
	[
		['Approve', 'Approve'],
		['{"done":"book Rome"}', '{"done":"book Oslo"}'],
	],
	[
		['Decline', 'Approve'],
		[DECLINED, '{"done":"book Oslo"}'],
	],
] as [Button[], string[]][])(
	'sends one mail after the other for two calls of a tool, one at a time: %j',
	async (buttons, wanted) => {
		requests([ROME, OSLO]);
		const { answers, mails, subjects } = await runApproved(book(), buttons);
		expect(subjects).toStrictEqual(['book Rome?', 'book Oslo?']);
		expect(agent.toolResults()).toStrictEqual(wanted);
		expect(answers).toStrictEqual([wanted.join(' ')]);
		// As the recipe warns: a click in the first mail would now decide about the second call.
		expect(mails[0]!.links).toStrictEqual(mails[1]!.links);
	},
	RUN_LIMIT_MS,
);

it(
	'sends one mail after the other for two tools whose calls leave all at once',
	async () => {
		requests([ROME, call('c2', 'cancel', { city: 'Oslo' })]);
		const [first, second] = [askFirst('book'), askFirst('cancel')];
		const { answers, execution, subjects } = await runApproved(
			{
				tools: ['book', 'cancel'],
				nodes: [...first.nodes, ...second.nodes],
				wires: { ...first.wires, ...second.wires },
				parameters: { options: { runCalls: 'allAtOnce' } },
			},
			['Approve', 'Decline'],
		);
		expect(subjects).toStrictEqual(['book Rome?', 'cancel Oslo?']);
		expect(agent.toolResults()).toStrictEqual(['{"done":"book Rome"}', DECLINED]);
		expect(runsOf(execution, 'Do cancel')).toHaveLength(0);
		expect(answers).toHaveLength(1);
	},
	RUN_LIMIT_MS,
);

it(
	'asks for the first of two calls of a tool only, if both leave at once: the missing result is an error',
	async () => {
		requests([ROME, OSLO]);
		const { answers, execution, subjects } = await runApproved(
			{ ...book(), parameters: { options: { runCalls: 'allAtOnce' } } },
			['Approve'],
		);
		expect(subjects).toStrictEqual(['book Rome?']);
		expect(outputItems(execution, 'Do book').map(({ json }) => json)).toStrictEqual([
			{ done: 'book Rome' },
		]);
		expect(failureOf(execution)).toMatch(/^Agent: Tool book returned no item for 1 call/);
		expect(agent.model.requests).toHaveLength(1);
		expect(answers).toHaveLength(0);
	},
	RUN_LIMIT_MS,
);

it(
	'asks for all calls of a tool that leave at once, if a loop with Reset passes them on one by one',
	async () => {
		requests([ROME, OSLO], [call('c3', 'book', { city: 'Lima' })]);
		const { nodes, wires } = askFirst('ask', 'book');
		const options = { reset: "={{ $prevNode.name === 'Agent' }}" };
		const loop = node('book', base('splitInBatches'), 3, { parameters: { options } });
		const { answers, subjects } = await runApproved(
			{
				tools: ['book'],
				nodes: [loop, ...nodes],
				wires: { ...wires, book: [['Agent'], ['ask']] },
				parameters: { options: { runCalls: 'allAtOnce' } },
			},
			['Approve', 'Decline', 'Approve'],
		);
		expect(subjects).toStrictEqual(['book Rome?', 'book Oslo?', 'book Lima?']);
		expect(agent.toolResults()).toStrictEqual([
			'{"done":"ask Rome"}',
			DECLINED,
			'{"done":"ask Lima"}',
		]);
		expect(answers).toHaveLength(1);
	},
	RUN_LIMIT_MS,
);
