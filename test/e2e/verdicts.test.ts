/**
 * The verdict on each form of a reply, streamed or not, where a person meets it: in a chat node, and with the chat model in
 * n8n's AI Agent and Basic LLM Chain.
 */
import { outputItems } from '../../lab/n8n/execution';
import { N8nClient } from '../../lab/n8n/N8nClient';
import { Running } from '../../lab/services/Running';
import { eventsOf, startScriptedServer, type ScriptedServer } from '../support/scriptedServer';
import { drawn, node, withSubNodes } from './support/buildWorkflow';
import { RUN_LIMIT_MS, SET_UP_LIMIT_MS } from './support/session';
import { sharedN8nUrl } from './support/sharedN8n';
import { FAILURE } from '../support/failureTexts';

const CREDENTIAL = 'Verdicts';
const PACKAGE = 'n8n-nodes-agent-video';
const LANGCHAIN = '@n8n/n8n-nodes-langchain';
const CUT_CALL = { id: 'c1', type: 'function', function: { name: 'look', arguments: '{"ci' } };

const IMAGE = 'https://cdn.example/1.png';
const said = (message: string, code?: string) => ({
	error: { message, code, type: 'odd_error' },
});

/** What the service says, by the word of the question: a choice, or a body without one, with its status. */
const REPLIES: Readonly<
	Record<
		string,
		{
			readonly message?: object;
			readonly status?: number;
			readonly [field: string]: unknown;
		}
	>
> = {
	answer: { message: { content: 'All of it' }, finish_reason: 'stop' },
	disguised: { message: { content: 'As it is' }, finish_reason: 'stop' },
	pictures: { message: { content: '' }, img_urls: [IMAGE], finish_reason: 'stop' },
	thought: { message: { content: 'Yes', reasoning: 'Because' }, finish_reason: 'stop' },
	unknown: { status: 404, ...said('model m9 not found', 'model_not_found') },
	poor: { status: 403, ...said('insufficient balance', 'insufficient_user_quota') },
	closed: { status: 403, ...said('no') },
	unpaid: { status: 402, ...said('no') },
	nothing: { message: { content: '', reasoning_content: 'Hm' }, finish_reason: 'stop' },
	refusal: { message: { content: null, refusal: 'I cannot do that' }, finish_reason: 'stop' },
	call: { message: { content: 'Let me see', tool_calls: [CUT_CALL] }, finish_reason: 'length' },
	failure: { message: { content: 'Half' }, finish_reason: 'error' },
	envelope: { code: 1301, msg: 'The content may be odd ECONNREFUSED' },
	cut: { message: { content: 'Half of it' }, finish_reason: 'length' },
};

/**
 * What a person reads of each; the chat model shows text only, so that a reply that was cut is an error there. n8n's agents
 * and chains output nothing but the message of an error, so it has the words of the service.
 */
const EXPECTED = (isModel: boolean): Readonly<Record<string, string>> => ({
	answer: 'All of it',
	disguised: 'As it is',
	pictures: IMAGE,
	thought: isModel ? 'Yes' : '"reasoning_content":"Because"',
	unknown: `The model does not exist, or the account has no access to it${isModel ? ': model m9 not found' : ''}`,
	poor: FAILURE.noCredit,
	closed: isModel ? `${FAILURE.noAccess}: no` : `"error":"${FAILURE.noAccess}"`,
	unpaid: FAILURE.notPaid,
	nothing: 'neither an answer nor a tool call',
	refusal: 'The model refused to answer: I cannot do that',
	call: `The reply was cut off in a tool call${isModel ? ': Let me see' : ''}`,
	failure: `The service reported an error during the reply${isModel ? ': Half' : ''}`,
	envelope: `${FAILURE.noStatus}${isModel ? ': The content may be odd ECONNREFUSED' : ''}`,
	cut: isModel
		? 'The reply was cut off, with the finish reason length: Half of it'
		: 'Half of it',
});

const running = new Running();
let client: N8nClient;
let server: ScriptedServer;

beforeAll(async () => {
	server = running.keep(
		await startScriptedServer((response, { body }) => {
			const { messages } = body as { messages: { content: unknown }[] };
			const asked = String(messages.at(-1)!.content);
			const [form = '', kind] = asked.split(' ');
			const { message, status = 200, finish_reason, img_urls, ...envelope } = REPLIES[form]!;
			const choice = { index: 0, finish_reason, img_urls };
			const reply = message === undefined ? envelope : { choices: [{ ...choice, message }] };
			const chunks =
				message === undefined
					? [envelope]
					: [
							{ choices: [{ index: 0, delta: message }] },
							{ choices: [{ ...choice, delta: {} }] },
						];
			const isBody = kind === 'body' || status !== 200;
			const text = isBody ? JSON.stringify(reply) : eventsOf([...chunks, '[DONE]']);
			// One form is declared as the other, after words that keep the connection alive.
			const isDisguised = form === 'disguised';
			const beat = isDisguised && !isBody ? 'data: heartbeat\n\n' : '';
			const type = isBody === isDisguised ? 'text/event-stream' : 'application/json';
			response.writeHead(status, { 'content-type': type }).end(beat + text);
		}),
	);
	client = await N8nClient.signIn(await sharedN8nUrl());
	running.keep({ stop: () => client.archiveWorkflows() });
	await client.createCredential({
		name: CREDENTIAL,
		type: 'agentVideoApi',
		// With a path, as people paste it.
		data: { baseUrl: `${server.url}/api/v3/chat/completions`, apiKey: 'k' },
	});
}, SET_UP_LIMIT_MS);

afterAll(async () => {
	await running.stop();
}, RUN_LIMIT_MS);

const QUESTIONS = Object.keys(REPLIES).flatMap((form) => [`${form} body`, `${form} stream`]);
const QUESTION = '={{ $json.questions }}';
const DETAILED = { output: 'detailed', options: { retries: 0 } };

const NODES = {
	'Chat Completion': [`${PACKAGE}.chatCompletion`, 1, { prompt: QUESTION, ...DETAILED }],
	'AI Agent': [`${LANGCHAIN}.agent`, 3.1, { promptType: 'define', text: QUESTION }],
	'Basic LLM Chain': [`${LANGCHAIN}.chainLlm`, 1.9, { promptType: 'define', text: QUESTION }],
} as const;

it.each(Object.keys(NODES) as (keyof typeof NODES)[])(
	'%s: every form has its verdict, as a body and as a stream',
	async (name) => {
		const [type, version, parameters] = NODES[name];
		const isOwn = type.startsWith(PACKAGE);
		const flow = drawn(
			name,
			[
				node('Start', 'n8n-nodes-base.manualTrigger', 1),
				node('Set', 'n8n-nodes-base.set', 3.4, {
					parameters: {
						mode: 'raw',
						jsonOutput: JSON.stringify({ questions: QUESTIONS }),
					},
				}),
				node('Each', 'n8n-nodes-base.splitOut', 1, {
					parameters: { fieldToSplitOut: 'questions' },
				}),
				node('Answer', type, version, {
					parameters,
					onError: 'continueRegularOutput',
					...(isOwn ? { credential: CREDENTIAL } : {}),
				}),
			],
			{ Start: [['Set']], Set: [['Each']], Each: [['Answer']] },
		);
		const model = node('Model', `${PACKAGE}.agentVideoChatModel`, 1, {
			credential: CREDENTIAL,
		});
		const ref = await client.importWorkflow(
			isOwn ? flow : withSubNodes(flow, 'Answer', [[model, 'ai_languageModel']]),
		);
		const execution = await client.waitForExecution(await client.run(ref, 'Start'));
		const items = outputItems(execution, 'Answer');
		const expected = EXPECTED(!isOwn);
		// Only an answer, and a reply that was cut where its reason is seen, has no error.
		const taken = ['answer', 'disguised', 'pictures', 'thought', ...(isOwn ? ['cut'] : [])];
		const seen = items.map(({ json }, index) => {
			const text = JSON.stringify(json);
			const form = QUESTIONS[index]!.split(' ')[0]!;
			const isRight = taken.includes(form) === (json['error'] === undefined);
			const isExpected = isRight && text.includes(expected[form]!);
			return isExpected ? 'as expected' : `${QUESTIONS[index]!}: ${text}`;
		});
		expect(seen).toStrictEqual(QUESTIONS.map(() => 'as expected'));
		expect(new Set(server.requests.map(({ path }) => path))).toStrictEqual(
			new Set(['/api/v3/chat/completions']),
		);
	},
	RUN_LIMIT_MS,
);
