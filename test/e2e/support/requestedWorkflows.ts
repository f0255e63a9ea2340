/** A workflow that a language model writes for a request, from what n8n's MCP server says of the nodes. */
export interface RequestedWorkflow {
	readonly request: string;
	/** Code of n8n's SDK. */
	readonly code: string;
	readonly trigger: string;
	readonly inputs?: object;
	/** How many videos are paid for, each time that the workflow is run; by default none. */
	readonly paid?: readonly number[];
	/** Items of a node, of each time that the workflow is run. */
	readonly items: Readonly<Record<string, readonly (readonly object[])[]>>;
}

const like = (json: object) => expect.objectContaining(json) as object;
const matching = (pattern: RegExp) => expect.stringMatching(pattern) as string;

const CREDENTIALS = "credentials: { agentVideoApi: newCredential('Agent Video account') }";
const START = `const start = trigger({
	type: 'n8n-nodes-base.manualTrigger', version: 1, config: { name: 'Start' }, output: [{}],
});`;
const CHAT = `const start = trigger({
	type: '@n8n/n8n-nodes-langchain.chatTrigger', version: 1.3,
	config: { name: 'Start', parameters: { options: { responseMode: 'streaming' } } },
	output: [{ sessionId: 'visitor-1', chatInput: 'Hello' }],
});`;

/** A node of n8n or, where the type has no dot, of this package. */
function node(
	variable: string,
	type: string,
	version: number,
	name: string,
	parameters: string,
	output: object = {},
	more = '',
): string {
	const [fullType, credentials] = type.includes('.')
		? [type, '']
		: [`n8n-nodes-agent-video.${type}`, `${CREDENTIALS}, `];
	return `const ${variable} = node({
	type: '${fullType}', version: ${version},
	config: { name: '${name}', parameters: ${parameters}, ${credentials}${more} },
	output: [${JSON.stringify(output)}],
});`;
}

const set = (variable: string, name: string, json: string, output: object) =>
	node(
		variable,
		'n8n-nodes-base.set',
		3.4,
		name,
		`{ mode: 'raw', jsonOutput: expr(${JSON.stringify(`{{ ${json} }}`)}) }`,
		output,
	);

const own =
	(type: string) =>
	(variable: string, name: string, parameters: string, output: object = {}, more = '') =>
		node(variable, type, 1, name, parameters, output, more);
const video = own('createVideo');
const wait = own('waitForVideo');
const chat = own('chatCompletion');
const agent = own('functionCallingAgent');
const assistant = own('superAssistant');

const noOp = (variable: string, name: string) =>
	node(variable, 'n8n-nodes-base.noOp', 1, name, '{}');

/** A list, and an item for each entry; a text is in a field of this name. */
function each(name: string, entries: string, sample: object | string, field = '') {
	const options = field === '' ? '' : `, options: { destinationFieldName: '${field}' }`;
	const output = typeof sample === 'string' ? { [field]: sample } : sample;
	return [
		set('list', 'List', `{ items: ${entries} }`, { items: [sample] }),
		node('split', SPLIT, 1, name, `{ fieldToSplitOut: 'items'${options} }`, output),
	];
}

const wire = (...lines: readonly string[]) =>
	`export default workflow('requested', 'Requested')${lines.join('')};`;

const VIDEO = { task_id: 'task-1', status: 'completed', video_url: 'https://example.com/1.mp4' };
const MP4 = matching(/\.mp4$/);
const ANY_TEXT = matching(/\S/);
const SPLIT = 'n8n-nodes-base.splitOut';
/** What does not fit under a limit. */
const LEFT_OUT = like({ task_id: '', reason: 'limit' });

export const REQUESTED: readonly RequestedWorkflow[] = [
	{
		request: 'An agent that looks up orders in my table',
		trigger: 'Start',
		inputs: { chatInput: 'Look up order B99' },
		code: [
			CHAT,
			agent(
				'agent',
				'Agent',
				`{ prompt: expr("{{ $('Start').item.json.chatInput }}"), tools: { tool: [{
					name: 'look_up_order', description: 'Looks up an order',
					parameters: { parameter: [{ name: 'order_id' }] }
				}] } }`,
				{ order_id: 'A17' },
			),
			node(
				'orders',
				'n8n-nodes-base.dataTable',
				1.1,
				'Orders',
				`{
					resource: 'row', operation: 'get',
					dataTableId: { __rl: true, mode: 'name', value: 'orders' },
					filters: { conditions: [
						{ keyName: 'order_id', condition: 'eq', keyValue: expr('{{ $json.order_id }}') }
					] }
				}`,
				{ order_id: 'A17', state: 'shipped' },
				'alwaysOutputData: true',
			),
			noOp('answer', 'Answer'),
			wire(
				'.add(start).to(agent).add(agent.output(0).to(answer))',
				'.add(agent.output(2).to(orders)).add(orders.to(agent))',
			),
		].join('\n'),
		// The table has no such order, and the model is told so.
		items: { Orders: [[{}]], Answer: [[like({ finish_reason: 'stop' })]] },
	},
	{
		request: 'Turn the headlines of a feed into clips, and skip what was delivered',
		trigger: 'Start',
		code: [
			START,
			...each('Headlines', '[1, 2].map((n) => ({ guid: "g" + n, title: "News " + n }))', {
				guid: 'g1',
				title: 'News',
			}),
			video(
				'create',
				'Create Video',
				`{
					prompt: expr('A clip: {{ $json.title }}'),
					options: { idempotencyKey: expr('{{ $json.guid }}'), maximumVideos: 10 }
				}`,
				{ task_id: 'task-1', delivered_at: '2026-01-01T00:00:00.000Z' },
			),
			node(
				'fresh',
				'n8n-nodes-base.filter',
				2.3,
				'New Ones',
				`{ conditions: { combinator: 'and', conditions: [{
					leftValue: expr('{{ $json.delivered_at }}'), rightValue: '',
					operator: { type: 'string', operation: 'notExists', singleValue: true }
				}], options: { caseSensitive: false, leftValue: '', typeValidation: 'strict' } } }`,
				{ task_id: 'task-1' },
			),
			wait('wait', 'Wait for Video', '{}', VIDEO),
			set(
				'post',
				'Post',
				'{ title: $("Headlines").item.json.title, url: $json.video_url }',
				{},
			),
			wire('.add(start).to(list).to(split).to(create).to(fresh).to(wait).to(post)'),
		].join('\n'),
		items: {
			'Create Video': [
				[like({ status: 'queued' }), like({ status: 'queued' })],
				[
					like({ reused: true, delivered_at: matching(/^2/) }),
					like({ reused: true, delivered_at: matching(/^2/) }),
				],
			],
			Post: [
				[
					{ title: 'News 1', url: MP4 },
					{ title: 'News 2', url: MP4 },
				],
				[],
			],
		},
		paid: [2, 0],
	},
	{
		request: 'Describe each photo that is sent to a webhook as JSON',
		trigger: 'Start',
		inputs: { webhookData: { method: 'POST', body: { photo: 'http://127.0.0.1/kite.png' } } },
		code: [
			`const start = trigger({
	type: 'n8n-nodes-base.webhook', version: 2.1,
	config: { name: 'Start', parameters: { path: 'photos', httpMethod: 'POST' } },
	output: [{ body: { photo: 'https://example.com/1.png' } }],
});`,
			chat(
				'describe',
				'Describe',
				`{
					prompt: 'Describe this photo',
					images: { image: [{ url: expr('{{ $json.body.photo }}') }] },
					responseFormat: 'schema',
					fields: { field: [{ name: 'title' }, { name: 'colors', type: 'array' }] }
				}`,
				{ json: { json: { title: 'Kite', colors: ['red'] } } },
			),
			set('use', 'Use', '{ title: $json.json.title, colors: $json.json.colors }', {}),
			wire('.add(start).to(describe).to(use)'),
		].join('\n'),
		items: {
			Use: [[{ title: expect.any(String) as string, colors: expect.any(Array) as string[] }]],
		},
	},
	{
		request: 'An AI Agent that can make videos',
		trigger: 'Start',
		inputs: { chatInput: 'Make a video of a kite' },
		code: [
			CHAT,
			`const model = languageModel({
	type: 'n8n-nodes-agent-video.agentVideoChatModel', version: 1,
	config: { name: 'Model', parameters: {}, ${CREDENTIALS} },
});
const video = tool({
	type: 'n8n-nodes-agent-video.createVideoTool', version: 1,
	config: {
		name: 'Create video',
		parameters: { prompt: fromAi('prompt', 'What the video shows') }, ${CREDENTIALS},
	},
});`,
			node(
				'agent',
				'@n8n/n8n-nodes-langchain.agent',
				3.1,
				'AI Agent',
				'{ options: {} }',
				{ output: 'Here it is' },
				'subnodes: { model, tools: [video] }',
			),
			wire('.add(start).to(agent)'),
		].join('\n'),
		items: { 'AI Agent': [[{ output: matching(/kite.*\.mp4/i) }]] },
		paid: [1],
	},
	{
		request: 'A clip from the first and the last picture',
		trigger: 'Start',
		code: [
			START,
			video(
				'create',
				'Create Video',
				`{
					prompt: 'The flower opens', imageMode: 'first_last_frame', waitUntilFinished: true,
					references: { file: [
						{ url: 'https://example.com/bud.jpg' }, { url: 'https://example.com/rose.jpg' }
					] }
				}`,
				{ ...VIDEO, request: { image_mode: 'first_last_frame' } },
			),
			set('clip', 'Clip', '{ mode: $json.request.image_mode, url: $json.video_url }', {}),
			wire('.add(start).to(create).to(clip)'),
		].join('\n'),
		items: { Clip: [[{ mode: 'first_last_frame', url: MP4 }]] },
		paid: [1],
	},
	{
		request: 'Tell me which videos have failed, and go on with the others',
		trigger: 'Start',
		code: [
			START,
			...each('Topics', '[{ topic: "A boat" }, { topic: "fail-task" }]', { topic: 'Boat' }),
			video('create', 'Create Video', "{ prompt: expr('{{ $json.topic }}') }", {
				task_id: 'task-1',
			}),
			wait('wait', 'Wait for Video', '{}', { ...VIDEO, reason: '' }),
			set('use', 'Use', '{ url: $json.video_url }', {}),
			set('tell', 'Tell', '{ topic: $("Topics").item.json.topic, why: $json.reason }', {}),
			wire(
				'.add(start).to(list).to(split).to(create).to(wait)',
				'.add(wait.output(0).to(use)).add(wait.output(1).to(tell))',
			),
		].join('\n'),
		items: { Use: [[{ url: MP4 }]], Tell: [[{ topic: 'fail-task', why: 'failed' }]] },
		paid: [2],
	},
	{
		request:
			'Make clips of my topics, but spend at most 2 euros a month; a second costs 10 cents',
		trigger: 'Start',
		code: [
			START,
			...each('Topics', '[1, 2, 3, 4, 5].map((n) => ({ topic: "Bay " + n }))', {
				topic: 'Bay',
			}),
			video(
				'create',
				'Create Video',
				`{ prompt: expr('{{ $json.topic }}'), duration: 5, options: {
					pricePerSecond: 0.1, maximumCost: 2, limitPeriod: 'month', takeWhatFits: true
				} }`,
				{ task_id: 'task-1', estimated_cost: 0.5 },
			),
			wire('.add(start).to(list).to(split).to(create)'),
		].join('\n'),
		items: {
			'Create Video': [
				[...Array<object>(4).fill(like({ estimated_cost: 0.5 })), LEFT_OUT],
				Array<object>(5).fill(LEFT_OUT),
			],
		},
		paid: [4, 0],
	},
	{
		request: 'An assistant that looks up stock in my table by itself',
		trigger: 'Start',
		inputs: { chatInput: 'Look up order A17' },
		code: [
			CHAT,
			`const stock = tool({
	type: 'n8n-nodes-base.dataTableTool', version: 1.1,
	config: { name: 'Look up order', parameters: {
		descriptionType: 'manual', toolDescription: 'Looks up an order by its order_id',
		resource: 'row', operation: 'get',
		dataTableId: { __rl: true, mode: 'name', value: 'orders' },
		filters: { conditions: [
			{ keyName: 'order_id', condition: 'eq', keyValue: fromAi('order_id', 'ID of the order') }
		] }
	} },
});`,
			agent(
				'agent',
				'Agent',
				"{ prompt: expr('{{ $json.chatInput }}'), systemMessage: 'You look up orders.' }",
				{ output: 'It was shipped' },
				'subnodes: { tools: [stock] }',
			),
			noOp('answer', 'Answer'),
			wire('.add(start).to(agent).add(agent.output(0).to(answer))'),
		].join('\n'),
		items: { Answer: [[like({ output: matching(/shipped/) })]] },
	},
	{
		request: 'Let my assistant plan a trip for each customer, and remember it',
		trigger: 'Start',
		code: [
			START,
			...each('Messages', '["My name is Bo", "What is my name?"]', 'Hello', 'said'),
			assistant(
				'assistant',
				'Plan',
				`{
					appCode: 'demo-assistant', message: expr('{{ $json.said }}'),
					session: 'key', sessionKey: 'customer-7'
				}`,
				{ output: 'A trip to the sea', session_id: 'session-1' },
			),
			wire('.add(start).to(list).to(split).to(assistant)'),
		].join('\n'),
		items: { Plan: [[like({}), like({ output: matching(/Bo/) })]] },
	},
	{
		request: 'Rewrite my texts; when one is refused, tell me why and go on',
		trigger: 'Start',
		code: [
			START,
			...each('Texts', '[{ text: "Hi" }, { text: "forbidden-word" }]', { text: 'Hi' }),
			chat(
				'rewrite',
				'Rewrite',
				"{ prompt: expr('Rewrite this: {{ $json.text }}') }",
				{ output: 'Hello', error: '' },
				"onError: 'continueErrorOutput'",
			),
			set('use', 'Use', '{ text: $json.output }', {}),
			set('tell', 'Tell', '{ text: $("Texts").item.json.text, why: $json.error }', {}),
			wire(
				'.add(start).to(list).to(split).to(rewrite)',
				'.add(rewrite.output(0).to(use)).add(rewrite.output(1).to(tell))',
			),
		].join('\n'),
		items: {
			Use: [[{ text: ANY_TEXT }]],
			Tell: [[{ text: 'forbidden-word', why: matching(/./) }]],
		},
	},
	{
		request: 'Sort my mails into complaints, questions and the rest',
		trigger: 'Start',
		code: [
			START,
			set('mail', 'Mail', '{ text: "My order is a complaint: it came broken" }', {
				text: '',
			}),
			chat(
				'sort',
				'Sort',
				`{
					prompt: expr('Sort this mail: {{ $json.text }}'), responseFormat: 'schema',
					fields: { field: [
						{ name: 'kind', type: 'string', values: 'complaint, question, other' },
						{ name: 'summary', type: 'string', required: false }
					] },
					options: { repairAttempts: 1, temperature: 0 }
				}`,
				{ json: { json: { kind: 'complaint' } } },
			),
			node(
				'route',
				'n8n-nodes-base.filter',
				2.3,
				'Complaints',
				`{ conditions: { combinator: 'and', conditions: [{
					leftValue: expr('{{ $json.json.kind }}'), rightValue: 'complaint',
					operator: { type: 'string', operation: 'equals' }
				}], options: { caseSensitive: true, leftValue: '', typeValidation: 'strict' } } }`,
				{ json: { json: { kind: 'complaint' } } },
			),
			set(
				'ticket',
				'Ticket',
				'{ kind: $json.json.kind, mail: $("Mail").item.json.text }',
				{},
			),
			wire('.add(start).to(mail).to(sort).to(route).to(ticket)'),
		].join('\n'),
		items: { Ticket: [[{ kind: 'complaint', mail: matching(/broken/) }]] },
	},
	{
		request: "A chat with n8n's own memory that says what it cost in tokens",
		trigger: 'Start',
		inputs: { chatInput: 'My name is Bo' },
		code: [
			CHAT,
			`const simple = memory({
	type: '@n8n/n8n-nodes-langchain.memoryBufferWindow', version: 1.3,
	config: { name: 'Memory', parameters: { contextWindowLength: 10 } },
});`,
			chat(
				'answer',
				'Answer',
				"{ prompt: expr('{{ $json.chatInput }}') }",
				{ output: 'Hello Bo', usage: { total_tokens: 20 } },
				'subnodes: { memory: simple }',
			),
			set('tell', 'Tell', '{ output: $json.output, tokens: $json.usage.total_tokens }', {}),
			wire('.add(start).to(answer).to(tell)'),
		].join('\n'),
		items: { Tell: [[{ output: ANY_TEXT, tokens: expect.any(Number) as number }]] },
	},
];

/** A workflow with fields that those above have not; it is not run. */
export const OTHER_FIELDS = [
	START,
	video(
		'reel',
		'Create Reel',
		`{
			model: { __rl: true, mode: 'list', value: 'video-m1' }, prompt: 'Street food at night',
			aspectRatio: '9:16', duration: 10, size: '1080P', generateAudio: false,
			waitUntilFinished: true, download: true,
			options: { dryRun: true, pricePerSecond: 0.1, maximumVideos: 2, limitPeriod: 'day', takeWhatFits: true }
		}`,
		VIDEO,
	),
	chat(
		'solve',
		'Solve',
		`{
			prompt: 'What has hands and cannot clap?', streaming: 'off', output: 'detailed',
			memory: 'key', memoryKey: 'customer-42',
			options: { thinking: 'enabled', timeout: 600, concurrency: 1, fallbacks: 'chat-m1' }
		}`,
	),
	chat(
		'scenes',
		'Scenes',
		`{
			prompt: 'Write a story in three scenes', responseFormat: 'schema',
			defineSchema: 'example', jsonExample: '{ "scenes": ["A kite rises"] }'
		}`,
	),
	wire('.add(start).to(reel).to(solve).to(scenes)'),
].join('\n');
