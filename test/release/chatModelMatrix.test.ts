/**
 * Agent Video Chat Model in each of n8n's own agents and text nodes, in a version of each implementation: the same scripted
 * service gives the same result as with n8n's own OpenAI Chat Model, for a plain model, one that thinks, and one that puts
 * JSON between fences.
 */
import type { INode, INodeParameters } from 'n8n-workflow';

import { failureOf } from '../../lab/n8n/execution';
import type { Workflow } from '../../lab/n8n/workflow';
import type { ChatMessage } from '../../nodes/client/chat/types';
import { startScriptedServer, type ScriptedServer } from '../support/scriptedServer';
import { node, withSubNodes, workflow } from '../e2e/support/buildWorkflow';
import { calculator, LANGCHAIN, start } from '../e2e/support/drawAgent';
import { call, sendReply } from '../e2e/support/scriptedModel';
import { RUN_LIMIT_MS, SET_UP_LIMIT_MS } from '../e2e/support/session';
import { useSession } from '../e2e/support/useSession';

const SENTENCE = 'Book a table for two, please';
const CITY = { city: 'Rome', people: 3 };
const USAGE = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 };

interface Request {
	readonly messages: readonly ChatMessage[];
	readonly stream?: boolean;
	readonly tools?: readonly { function: { name: string } }[];
}
/** A call of a tool with arguments. */
interface Call {
	readonly tool: string;
	readonly args: object;
}
/** What a model says: a text, an object as JSON, or a call. */
type Said = string | object | Call;
type Model = (request: Request) => Said;
const STYLES = ['plain', 'thinking', 'fencing'] as const;
type Style = (typeof STYLES)[number];

const session = useSession({ videoSeconds: 1 });
let server: ScriptedServer;
let model: Model;
let style: Style;

beforeAll(async () => {
	server = session.keep(
		await startScriptedServer((response, { body }) => {
			const request = body as Request;
			const said = model(request);
			const text = typeof said === 'string' ? said : JSON.stringify(said, null, 1);
			const message = {
				role: 'assistant',
				...(style === 'thinking' && { reasoning_content: 'The user wants something.' }),
				...(isCall(said)
					? {
							content: null,
							tool_calls: [call(`c${server.requests.length}`, said.tool, said.args)],
						}
					: { content: style === 'fencing' && text !== said ? fenced(text) : text }),
			};
			sendReply(response, request, message, { usage: USAGE });
		}),
	);
	await session.credential('Ours', server.url);
	await session.client.createCredential({
		name: 'OpenAI',
		type: 'openAiApi',
		data: { apiKey: 'demo-key', url: `${server.url}/v1` },
	});
}, SET_UP_LIMIT_MS);

const isCall = (said: Said): said is Call => typeof said === 'object' && 'tool' in said;
const fenced = (text: string) => `\`\`\`json\n${text}\n\`\`\``;
const toolOf = ({ tools = [], messages }: Request, name: string) =>
	messages.at(-1)!.role !== 'tool' && tools.some((tool) => tool.function.name === name);

/** A node of n8n with the model, and more nodes under it. */
interface Row {
	readonly name: string;
	readonly type: string;
	readonly version: number;
	readonly parameters: object;
	readonly model: Model;
	readonly under?: readonly (readonly [INode, string])[] | undefined;
	/** What comes out, where n8n's own model would first download a tokenizer. */
	readonly result?: unknown;
	/** Options that both models have. */
	readonly options?: INodeParameters;
	/** Further nodes that have the model. */
	readonly with?: readonly string[];
}

const ours = node('Model', 'n8n-nodes-agent-video.agentVideoChatModel', 1, { credential: 'Ours' });
const openAi = {
	...node('Model', `${LANGCHAIN}.lmChatOpenAi`, 1.3, {
		parameters: {
			model: { __rl: true, mode: 'id', value: 'chat-m1' },
			responsesApiEnabled: false,
		},
	}),
	credentials: { openAiApi: { id: '', name: 'OpenAI' } },
};

function drawn(row: Row, model: INode): Workflow {
	const base = workflow(`${row.name} ${row.version}`, [
		start,
		node('Asks', row.type, row.version, { parameters: row.parameters }),
	]);
	const { options = {} } = row;
	const asked = { ...model, parameters: { ...model.parameters, options } };
	const flow = withSubNodes(base, 'Asks', [[asked, 'ai_languageModel'], ...(row.under ?? [])]);
	const targets = ['Asks', ...(row.with ?? [])].map((name) => ({
		node: name,
		type: 'ai_languageModel',
		index: 0,
	}));
	const under = Object.fromEntries(
		(row.under ?? []).flatMap(([{ name }, type]) =>
			// The second parser stands under the first one.
			name === 'Inner parser'
				? [[name, { ai_outputParser: [[{ node: 'Parser', type, index: 0 }]] }]]
				: [],
		),
	);
	const connections = { ...flow.connections, ...under, Model: { ai_languageModel: [targets] } };
	return { ...flow, connections };
}

/** What comes out of the node, or how it fails. */
async function outcome(row: Row, model: INode): Promise<unknown> {
	const execution = await session.execute(drawn(row, model));
	const failure = failureOf(execution);
	const outputs = execution.data.resultData.runData['Asks']?.at(-1)?.data?.['main'] ?? [];
	return failure === '' ? outputs.map((items) => items?.map((item) => item.json)) : failure;
}

const MEMORY = (): [INode, string] => [
	node('Memory', `${LANGCHAIN}.memoryBufferWindow`, 1.3, {
		parameters: { sessionIdType: 'customKey', sessionKey: 'one' },
	}),
	'ai_memory',
];
const ASK = { promptType: 'define', text: 'What do you want?' };
const agent = (version: number, more: object = {}, model: Model = () => SENTENCE): Row => ({
	name: `AI Agent ${JSON.stringify(more)}`,
	type: `${LANGCHAIN}.agent`,
	version,
	parameters: { ...ASK, ...more },
	model,
	under: [MEMORY()],
});
const structured = (autoFix: boolean): INode =>
	node('Parser', `${LANGCHAIN}.outputParserStructured`, 1.3, {
		parameters: {
			schemaType: 'fromJson',
			jsonSchemaExample: JSON.stringify(CITY),
			...(autoFix && { autoFix }),
		},
	});
const reAct = () => `Thought: I know it.\nFinal Answer: ${SENTENCE}`;
const conversational = () => ({ action: 'Final Answer', action_input: SENTENCE });
/** Wrong at first, right when the model is asked to correct it. */
const corrected = (request: Request): Said => {
	const asked = JSON.stringify(request.messages);
	return /Completion:|did not satisfy|Error:/i.test(asked)
		? { output: CITY }
		: 'Rome, three people';
};
const calculates = (request: Request): Said =>
	// The name is that of the node from 2 on.
	['calculator', 'Calculator']
		.filter((tool) => toolOf(request, tool))
		.map((tool) => ({ tool, args: { input: '6*7' } }))[0] ?? SENTENCE;

const TEXTS: readonly Row[] = [
	...[1.6, 1.9, 2.2, 3.1].map((version) => ({
		...agent(version, version < 2 ? { agent: 'toolsAgent' } : {}, calculates),
		under: [MEMORY(), calculator],
	})),
	agent(1.8, { agent: 'conversationalAgent' }, conversational),
	{ ...agent(1.8, { agent: 'reActAgent' }, reAct), under: [] },
	...[1.4, 1.9].map((version) => ({
		name: 'Basic LLM Chain',
		type: `${LANGCHAIN}.chainLlm`,
		version,
		parameters: ASK,
		model: () => SENTENCE,
	})),
	{
		name: 'Basic LLM Chain in JSON',
		type: `${LANGCHAIN}.chainLlm`,
		version: 1.9,
		parameters: ASK,
		model: () => CITY,
		options: { responseFormat: 'json_object' },
	},
	...[2.2, 3].map((version) => ({
		...agent(3.1, {}, (request) =>
			toolOf(request, 'Clerk')
				? { tool: 'Clerk', args: { Prompt__User_Message_: 'Go' } }
				: SENTENCE,
		),
		name: `AI Agent Tool ${version}`,
		under: [
			[
				node('Clerk', `${LANGCHAIN}.agentTool`, version, {
					parameters: {
						toolDescription: 'A clerk',
						text: "={{ $fromAI('Prompt__User_Message_', ``, 'string') }}",
					},
				}),
				'ai_tool',
			] as const,
		],
		with: ['Clerk'],
	})),
];

const chain = (under: Row['under'], model: Model, more: Partial<Row> = {}): Row => ({
	name: 'Basic LLM Chain with a parser',
	type: `${LANGCHAIN}.chainLlm`,
	version: 1.9,
	parameters: { ...ASK, hasOutputParser: true },
	model,
	under,
	...more,
});
const EXTRACT = {
	name: 'extract',
	description: 'Extracts',
	type: 'object',
	properties: { city: { type: 'string' }, people: { type: 'number' } },
	required: ['city', 'people'],
};
const CODE = `const [model] = [await this.getInputConnectionData('ai_languageModel', 0)].flat();
const schema = ${JSON.stringify(EXTRACT)};
const found = await model.withStructuredOutput(schema, { name: 'extract', method: 'functionCalling' }).invoke('Where?');
return [{ json: found }];`;

const OBJECTS: readonly Row[] = [
	chain([[structured(false), 'ai_outputParser']], () => ({ output: CITY })),
	chain([[structured(true), 'ai_outputParser']], corrected, {
		name: 'Structured Output Parser with Auto-Fix',
		with: ['Parser'],
	}),
	chain(
		[
			[node('Parser', `${LANGCHAIN}.outputParserAutofixing`, 1), 'ai_outputParser'],
			[{ ...structured(false), name: 'Inner parser', id: 'inner' }, 'ai_outputParser'],
		],
		corrected,
		{ name: 'Auto-fixing Output Parser', with: ['Parser'] },
	),
	...[1.8, 2.2, 3.1].map((version) => ({
		...agent(version, { hasOutputParser: true }, (request: Request) =>
			toolOf(request, 'format_final_json_response')
				? { tool: 'format_final_json_response', args: { output: CITY } }
				: { output: CITY },
		),
		under: [[structured(false), 'ai_outputParser']] as const,
	})),
	{
		name: 'Information Extractor',
		type: `${LANGCHAIN}.informationExtractor`,
		version: 1.2,
		parameters: {
			text: 'Three people go to Rome',
			schemaType: 'fromJson',
			jsonSchemaExample: JSON.stringify(CITY),
		},
		model: () => CITY,
	},
	{
		name: 'Text Classifier',
		type: `${LANGCHAIN}.textClassifier`,
		version: 1.1,
		parameters: {
			inputText: 'Rome',
			categories: { categories: [{ category: 'City' }, { category: 'Animal' }] },
		},
		model: () => ({ City: true, Animal: false }),
	},
	{
		name: 'Sentiment Analysis',
		type: `${LANGCHAIN}.sentimentAnalysis`,
		version: 1.1,
		parameters: { inputText: 'How nice', options: { includeDetailedResults: true } },
		model: () => ({ sentiment: 'Positive', strength: 0.9, confidence: 0.8 }),
	},
	{
		name: 'Guardrails',
		type: `${LANGCHAIN}.guardrails`,
		version: 2,
		parameters: { text: 'Hello', guardrails: { nsfw: { value: { threshold: 0.7 } } } },
		model: () => ({ confidenceScore: 0.1, flagged: false }),
	},
	{
		name: 'LangChain Code, withStructuredOutput',
		type: `${LANGCHAIN}.code`,
		version: 1,
		parameters: {
			code: { execute: { code: CODE } },
			inputs: {
				input: [
					{ type: 'main', maxConnections: 1 },
					{ type: 'ai_languageModel', maxConnections: 1, required: true },
				],
			},
			outputs: { output: [{ type: 'main' }] },
		},
		model: () => ({ tool: 'extract', args: CITY }),
	},
	...['map_reduce', 'stuff'].map((summarizationMethod): Row => ({
		name: `Summarization Chain ${summarizationMethod}`,
		type: `${LANGCHAIN}.chainSummarization`,
		version: 2.1,
		parameters: {
			options: { summarizationMethodAndPrompts: { values: { summarizationMethod } } },
		},
		model: () => SENTENCE,
		result: [[{ output: { text: SENTENCE } }]],
	})),
	{
		...agent(3.1, { options: { maxTokensFromMemory: 100 } }),
		name: 'AI Agent with Max Tokens To Read From Memory',
		result: [[{ output: SENTENCE }]],
	},
];

const titleOf = (row: Row) => `${row.name} ${row.version}`;
const named = (rows: readonly Row[]) => rows.map((row) => [titleOf(row), row] as const);

/** The others ask as a chain does. */
const THINKING = /^AI Agent|^Basic LLM Chain/;
const ROWS: Readonly<Record<Style, readonly Row[]>> = {
	plain: [...TEXTS, ...OBJECTS],
	thinking: [...TEXTS, ...OBJECTS].filter((row) => THINKING.test(titleOf(row))),
	// The others answer with a text.
	fencing: OBJECTS.filter((row) => row.result === undefined),
};

describe.each(STYLES)('a %s model', (each) => {
	const rows = ROWS[each];
	it.each(named(rows))(
		"%s has the result that n8n's own model gives",
		async (_name, row) => {
			style = each;
			model = row.model;
			const expected = row.result ?? (await outcome(row, openAi));
			expect(typeof expected).toBe('object');
			expect(await outcome(row, ours)).toStrictEqual(expected);
		},
		RUN_LIMIT_MS,
	);
});

/** Who has no account tries the nodes with the emulator: it does what the nodes' own prompts ask for. */
const AT_EMULATOR: readonly (readonly [Row, unknown])[] = [
	[
		chain([[structured(false), 'ai_outputParser']], () => '', {
			name: 'Structured Output Parser',
			parameters: { ...ASK, text: 'Three people go to Rome', hasOutputParser: true },
		}),
		[[{ output: CITY }]],
	],
	[OBJECTS.find(({ name }) => name === 'Information Extractor')!, [[{ output: CITY }]]],
	[
		{
			...OBJECTS.find(({ name }) => name === 'Text Classifier')!,
			parameters: {
				inputText: 'I was charged twice',
				categories: { categories: [{ category: 'Shipping' }, { category: 'Billing' }] },
			},
		},
		[[], [{}]],
	],
	[
		{
			...OBJECTS.find(({ name }) => name === 'Sentiment Analysis')!,
			parameters: { inputText: 'The food was cold, a terrible evening' },
		},
		[[], [], [{ sentimentAnalysis: { category: 'Negative' } }]],
	],
	[
		{
			...agent(3.1, { text: 'Three people go to Rome', hasOutputParser: true }),
			name: 'AI Agent with a parser',
			under: [[structured(false), 'ai_outputParser']],
		},
		[[{ output: CITY }]],
	],
];

it.each(AT_EMULATOR.map(([row, result]) => [row.name, row, result] as const))(
	'%s works with the emulator',
	async (_name, row, result) => {
		const model = { ...ours, credentials: { agentVideoApi: { id: '', name: 'Emulator' } } };
		expect(await outcome(row, model as INode)).toStrictEqual(result);
	},
	RUN_LIMIT_MS,
);
