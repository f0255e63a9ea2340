// @seconds 55
import { failureOf, outputItems, type Execution } from '../../lab/n8n/execution';
import { SMTP_CREDENTIAL } from '../../lab/n8n/readExample';
import type { ToolCall } from '../../nodes/client/chat/types';
import { startAgentSession, type AgentSession } from './support/agentSession';
import { node } from './support/buildWorkflow';
import { base, draw, set, type Drawing } from './support/drawAgent';
import { startMailbox, type ApprovedRun, type Button, type Mailbox } from './support/mailbox';
import { call, results, startScriptedModel, type ScriptedModel } from './support/scriptedModel';
import { RUN_LIMIT_MS, SET_UP_LIMIT_MS } from './support/session';

const ROME = call('c1', 'book', { city: 'Rome' });
const OSLO = call('c2', 'book', { city: 'Oslo' });
const DECLINED = '{"error":"A person declined this"}';

let agent: AgentSession;
let mailbox: Mailbox;
/** The model of the two runs that last longer than a minute. They run beside the other tests. */
let slowModel: ScriptedModel;
let slowRuns: Promise<{ readonly late: ApprovedRun; readonly unanswered: Execution }>;
/** Status of the late run when its person clicked. */
let statusBeforeClick: string;

beforeAll(async () => {
	agent = await startAgentSession();
	mailbox = await startMailbox(agent.client);
	slowModel = await startScriptedModel();
	await agent.credential('Slow', slowModel.url);
	slowRuns = approveLate();
	// Their own tests report a failure.
	slowRuns.catch(() => undefined);
}, SET_UP_LIMIT_MS);

afterAll(async () => {
	await slowModel.stop();
	await mailbox.stop();
	await agent.stop();
}, RUN_LIMIT_MS);

/** A tool branch: asks a person by mail, then does the work, or tells that the person has declined. */
function askFirst(tool: string, { options = {}, back = 'Agent' } = {}) {
	const [approved, work, decline] = [`${tool} approved?`, `Do ${tool}`, `Decline ${tool}`];
	const ask = node(tool, base('emailSend'), 2.1, {
		parameters: {
			operation: 'sendAndWait',
			fromEmail: 'n8n@example.com',
			toEmail: 'ada@example.com',
			subject: '={{ $json.tool_call.tool }} {{ $json.city }}?',
			message: 'The agent asks for your approval.',
			approvalOptions: { values: { approvalType: 'double' } },
			options,
		},
		webhookId: `approval-${tool}`,
	});
	return {
		nodes: [
			{ ...ask, credentials: { smtp: { id: '', name: SMTP_CREDENTIAL } } },
			node(approved, base('if'), 2.2, {
				parameters: {
					conditions: {
						options: { version: 2, typeValidation: 'strict' },
						combinator: 'and',
						conditions: [
							{
								leftValue: '={{ $json.data.approved }}',
								rightValue: '',
								operator: { type: 'boolean', operation: 'true', singleValue: true },
							},
						],
					},
				},
			}),
			// The reply of the person has replaced the item, so the argument is read from the agent.
			set(work, `={{ { "done": "${tool} " + $('Agent').item.json.city } }}`),
			set(decline, DECLINED),
		],
		wires: {
			[tool]: [[approved]],
			[approved]: [[work], [decline]],
			[work]: [[back]],
			[decline]: [[back]],
		},
	};
}

const book = (): Drawing => ({ tools: ['book'], ...askFirst('book') });

/** Executes an agent while a person clicks these buttons, one for each mail. */
async function runApproved(drawing: Drawing, buttons: readonly Button[]) {
	const workflow = draw(expect.getState().currentTestName!, drawing);
	const ref = await agent.client.importWorkflow(workflow);
	const run = await mailbox.run(ref, 'Start', (index) => buttons[index]!);
	return {
		...run,
		subjects: run.mails.map(({ subject }) => subject),
		answers: outputItems(run.execution, 'Answers').map(({ json }) => json['output']),
	};
}

/** Scripts the model to request the calls of these rounds, and to answer with their results. */
function requests(model: ScriptedModel, ...rounds: ToolCall[][]): void {
	model.replyWith((messages) => {
		const round = messages.filter(({ role }) => role === 'assistant').length;
		return (
			rounds[round] ??
			results(messages)
				.map(({ content }) => content)
				.join(' ')
		);
	});
}

/**
 * Runs an agent whose person clicks Approve when more than a minute has passed: when another agent, whose person never
 * answers, has reached its limit of 66 seconds.
 */
async function approveLate() {
	const { client } = agent;
	requests(slowModel, [ROME]);
	const slow = { credential: 'Slow', tools: ['book'] };
	const limitWaitTime = {
		values: { limitType: 'afterTimeInterval', resumeAmount: 1.1, resumeUnit: 'minutes' },
	};
	const limited = await client.importWorkflow(
		draw('Nobody answers', { ...slow, ...askFirst('book', { options: { limitWaitTime } }) }),
	);
	const ref = await client.importWorkflow(draw('Late', { ...slow, ...askFirst('book') }));
	let unanswered: Execution | undefined;
	const late = await mailbox.run(ref, 'Start', async (_index, id) => {
		unanswered = await client.waitForExecution(await client.run(limited, 'Start'));
		statusBeforeClick = (await client.readExecution(id)).status;
		return 'Approve' as const;
	});
	return { late, unanswered: unanswered! };
}

const runsOf = ({ data }: Execution, name: string) => data.resultData.runData[name] ?? [];

it(
	'tells the model when the person declines, and does no work',
	async () => {
		requests(agent.model, [ROME]);
		const { answers, execution, subjects } = await runApproved(book(), ['Decline']);
		expect(failureOf(execution)).toBe('');
		expect(subjects).toStrictEqual(['book Rome?']);
		expect(agent.toolResults()).toStrictEqual([DECLINED]);
		expect(runsOf(execution, 'Do book')).toHaveLength(0);
		expect(answers).toStrictEqual([DECLINED]);
		const [answer] = outputItems(execution, 'Answers');
		expect(answer!.json['tool_calls']).toMatchObject([{ name: 'book', failed: true }]);
	},
	RUN_LIMIT_MS,
);

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
		requests(agent.model, [ROME, OSLO]);
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
		requests(agent.model, [ROME, call('c2', 'cancel', { city: 'Oslo' })]);
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
		requests(agent.model, [ROME, OSLO]);
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
		requests(agent.model, [ROME, OSLO], [call('c3', 'book', { city: 'Lima' })]);
		const { nodes, wires } = askFirst('ask', { back: 'book' });
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

it(
	'goes on after an approval that comes when the execution has been saved for more than a minute',
	async () => {
		const { late } = await slowRuns;
		expect(statusBeforeClick).toBe('waiting');
		expect(failureOf(late.execution)).toBe('');
		expect(late.mails).toHaveLength(1);
		expect(outputItems(late.execution, 'Answers')).toMatchObject([
			{ json: { output: '{"done":"book Rome"}', rounds: 2 } },
		]);
	},
	2 * RUN_LIMIT_MS,
);

it(
	'takes no answer within the limit of the waiting time for a refusal',
	async () => {
		const { unanswered } = await slowRuns;
		expect(failureOf(unanswered)).toBe('');
		expect(runsOf(unanswered, 'Do book')).toHaveLength(0);
		expect(outputItems(unanswered, 'Answers')).toMatchObject([{ json: { output: DECLINED } }]);
		expect(slowModel.requests).toHaveLength(4);
	},
	2 * RUN_LIMIT_MS,
);
