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

const wire = (...lines: readonly string[]) =>
	`export default workflow('requested', 'Requested')${lines.join('')};`;

const VIDEO = { task_id: 'task-1', status: 'completed', video_url: 'https://example.com/1.mp4' };
const MP4 = matching(/\.mp4$/);
const SPLIT = 'n8n-nodes-base.splitOut';
/** What does not fit under a limit. */
const LEFT_OUT = like({ task_id: '', reason: 'limit' });

export const REQUESTED: readonly RequestedWorkflow[] = [
	{
		request: 'Text me when my product video is ready',
		trigger: 'Start',
		code: [
			START,
			set('product', 'Product', '{ name: "Kite", phone: "555" }', { name: '', phone: '' }),
			node(
				'create',
				'createVideo',
				1,
				'Create Video',
				"{ prompt: expr('A product video: {{ $json.name }}'), waitUntilFinished: true }",
				VIDEO,
			),
			set('text', 'Text', '{ to: $("Product").item.json.phone, body: $json.video_url }', {}),
			wire('.add(start).to(product).to(create).to(text)'),
		].join('\n'),
		items: { Text: [[{ to: '555', body: MP4 }]] },
		paid: [1],
	},
	{
		request: 'An agent that looks up orders in my table',
		trigger: 'Start',
		inputs: { chatInput: 'Look up order B99' },
		code: [
			CHAT,
			node(
				'agent',
				'functionCallingAgent',
				1,
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
			node('answer', 'n8n-nodes-base.noOp', 1, 'Answer', '{}'),
			wire(
				'.add(start).to(agent).add(agent.output(0).to(answer))',
				'.add(agent.output(2).to(orders)).add(orders.to(agent))',
			),
		].join('\n'),
		// The table has no such order, and the model is told so.
		items: { Orders: [[{}]], Answer: [[like({ finish_reason: 'stop' })]] },
	},
	{
		request: 'Answer support mail with our knowledge application',
		trigger: 'Start',
		code: [
			START,
			set('mail', 'Mail', '{ from: "ann", subject: "Delivery", text: "How long?" }', {
				...{ from: '', subject: '', text: '' },
			}),
			node(
				'answer',
				'chatCompletion',
				1,
				'Answer',
				"{ answeredBy: 'app', appCode: 'demo-app', prompt: expr('{{ $json.subject }}: {{ $json.text }}') }",
				{ output: 'Two days' },
			),
			set('reply', 'Reply', '{ to: $("Mail").item.json.from, text: $json.output }', {}),
			wire('.add(start).to(mail).to(answer).to(reply)'),
		].join('\n'),
		items: { Reply: [[{ to: 'ann', text: matching(/Delivery/) }]] },
	},
	{
		request: 'Turn the headlines of a feed into clips, and skip what was delivered',
		trigger: 'Start',
		code: [
			START,
			set(
				'feed',
				'Feed',
				'{ items: [1, 2].map((n) => ({ guid: "g" + n, title: "News " + n })) }',
				{
					items: [{ guid: 'g1', title: 'News' }],
				},
			),
			node('split', SPLIT, 1, 'Headlines', "{ fieldToSplitOut: 'items' }", {
				guid: 'g1',
				title: 'News',
			}),
			node(
				'create',
				'createVideo',
				1,
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
			node('wait', 'waitForVideo', 1, 'Wait for Video', '{}', VIDEO),
			set(
				'post',
				'Post',
				'{ title: $("Headlines").item.json.title, url: $json.video_url }',
				{},
			),
			wire('.add(start).to(feed).to(split).to(create).to(fresh).to(wait).to(post)'),
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
			node(
				'describe',
				'chatCompletion',
				1,
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
		request: 'Write three scenes and film them',
		trigger: 'Start',
		code: [
			START,
			node(
				'scenes',
				'chatCompletion',
				1,
				'Scenes',
				`{
					prompt: 'Write a story of a kite in three scenes', responseFormat: 'schema',
					defineSchema: 'example', jsonExample: '{ "scenes": ["A kite rises"] }'
				}`,
				{ json: { scenes: ['A kite rises'] } },
			),
			node(
				'split',
				SPLIT,
				1,
				'Split',
				"{ fieldToSplitOut: 'json.scenes', options: { destinationFieldName: 'scene' } }",
				{ scene: 'A kite rises' },
			),
			node(
				'create',
				'createVideo',
				1,
				'Create Video',
				"{ prompt: expr('{{ $json.scene }}'), waitUntilFinished: true, duration: 4 }",
				VIDEO,
			),
			node(
				'film',
				'n8n-nodes-base.aggregate',
				1,
				'Film',
				"{ fieldsToAggregate: { fieldToAggregate: [{ fieldToAggregate: 'video_url' }] } }",
			),
			wire('.add(start).to(scenes).to(split).to(create).to(film)'),
		].join('\n'),
		items: { Film: [[{ video_url: [MP4, MP4, MP4] }]] },
		paid: [3],
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
		request: 'At most two clips a day, whatever the list has',
		trigger: 'Start',
		code: [
			START,
			set('list', 'List', '{ items: [1, 2, 3].map((n) => ({ topic: "Boat " + n })) }', {
				items: [{ topic: 'Boat' }],
			}),
			node('split', SPLIT, 1, 'Topics', "{ fieldToSplitOut: 'items' }", { topic: 'Boat' }),
			node(
				'create',
				'createVideo',
				1,
				'Create Video',
				`{ prompt: expr('{{ $json.topic }}'), options: {
					maximumVideos: 2, limitPeriod: 'day', takeWhatFits: true
				} }`,
				{ task_id: 'task-1', reason: '' },
			),
			wire('.add(start).to(list).to(split).to(create)'),
		].join('\n'),
		items: {
			'Create Video': [
				[like({ status: 'queued' }), like({ status: 'queued' }), LEFT_OUT],
				[LEFT_OUT, LEFT_OUT, LEFT_OUT],
			],
		},
		paid: [2, 0],
	},
	{
		request: 'When one model does not answer, ask another',
		trigger: 'Start',
		code: [
			START,
			node(
				'answer',
				'chatCompletion',
				1,
				'Answer',
				`{
					prompt: 'Name a city', model: { __rl: true, mode: 'id', value: 'chat-m9' },
					options: { retries: { values: { fallbacks: 'chat-m1' } } }
				}`,
				{ output: 'Rome', fallback: { answered_by: 'chat-m1' } },
			),
			set('by', 'By', '{ by: $json.fallback.answered_by }', {}),
			wire('.add(start).to(answer).to(by)'),
		].join('\n'),
		items: { By: [[{ by: 'chat-m1' }]] },
	},
	{
		request: 'Remember what each customer has said',
		trigger: 'Start',
		code: [
			START,
			set('list', 'List', '{ items: ["My name is Ann", "What is my name?"] }', {
				items: ['Hello'],
			}),
			node(
				'split',
				SPLIT,
				1,
				'Messages',
				"{ fieldToSplitOut: 'items', options: { destinationFieldName: 'said' } }",
				{ said: 'Hello' },
			),
			node(
				'chat',
				'chatCompletion',
				1,
				'Chat',
				"{ prompt: expr('{{ $json.said }}'), memory: 'key', memoryKey: 'customer-42' }",
				{ output: 'Ann' },
			),
			wire('.add(start).to(list).to(split).to(chat)'),
		].join('\n'),
		items: { Chat: [[like({}), like({ output: matching(/Ann/) })]] },
	},
	{
		request: 'A clip from the first and the last picture',
		trigger: 'Start',
		code: [
			START,
			node(
				'create',
				'createVideo',
				1,
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
			set('list', 'List', '{ items: [{ topic: "A boat" }, { topic: "fail-task" }] }', {
				items: [{ topic: 'Boat' }],
			}),
			node('split', SPLIT, 1, 'Topics', "{ fieldToSplitOut: 'items' }", { topic: 'Boat' }),
			node(
				'create',
				'createVideo',
				1,
				'Create Video',
				"{ prompt: expr('{{ $json.topic }}') }",
				{ task_id: 'task-1' },
			),
			node('wait', 'waitForVideo', 1, 'Wait for Video', '{}', { ...VIDEO, reason: '' }),
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
];
