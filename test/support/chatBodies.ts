/** The body of a chat request, without the fields that are the same for all rows. */
export type ChatBody = Readonly<Record<string, unknown>>;

/** A body that the service rejects with status 400, and the problem as the error of a node names it after the label of its field. */
export type RejectedBody = readonly [name: string, body: ChatBody, problem: string];

/** A body that the service accepts. */
export type AcceptedBody = readonly [name: string, body: ChatBody];

const USER = { role: 'user', content: 'Hi' };
const CALL = { id: 'a', type: 'function', function: { name: 'look', arguments: '{}' } };
const RESULT = { role: 'tool', tool_call_id: 'a', content: 'ok' };
const IMAGE = { type: 'image_url', image_url: { url: 'https://example.com/fox.jpg' } };
const BLANK = { type: 'text', text: ' ' };
const asking = (...tool_calls: unknown[]) => ({ role: 'assistant', content: null, tool_calls });
/** A message of the user with this content. */
const saying = (content: unknown) => [{ role: 'user', content }];
/** A tool whose parameters have these fields beside their type. */
const tool = (parameters: object, more: object = {}) => ({
	type: 'function',
	function: { name: 'look', parameters: { type: 'object', ...parameters }, ...more },
});

type Row = readonly [name: string, value: unknown, problem: string];

const MESSAGES: readonly Row[] = [
	['no messages', [], 'is empty'],
	['messages that are no list', {}, 'is not a list'],
	...(
		[
			['a message that is no object', 'Hi'],
			['no role', { content: 'Hi' }],
			['an unknown role', { role: 'bot', content: 'Hi' }],
		] as const
	).map(([name, message]): Row => [name, [message], 'entry 1 has an unknown role']),
	...(
		[
			['empty content', { role: 'user', content: '' }],
			['blank content', { role: 'user', content: ' \n' }],
			['null content', { role: 'user', content: null }],
			['no content', { role: 'user' }],
			['no parts', { role: 'user', content: [] }],
			['only blank parts', { role: 'user', content: [BLANK] }],
			['an empty system message', { role: 'system', content: '' }],
			['an empty reply', { role: 'assistant', content: null }],
			['a reply with no calls', { role: 'assistant', tool_calls: [] }],
		] as const
	).map(([name, message]): Row => [name, [message, USER], 'entry 1 has no content']),
	[
		'content that is a number',
		saying(5),
		'entry 1 has content that is neither a text nor a list of parts',
	],
	[
		'content that is an object beside calls',
		[USER, { ...asking(CALL), content: {} }, RESULT],
		'entry 2 has content that is neither a text nor a list of parts',
	],
	...(
		[
			['an unknown part', [{ type: 'audio' }]],
			['a text part without text', [{ type: 'text' }, IMAGE]],
			['an image part without a URL', [{ type: 'image_url', image_url: {} }]],
		] as const
	).map(([name, parts]): Row => [
		name,
		saying(parts),
		'entry 1 has a part that is neither text nor image',
	]),
	[
		'an image that is no URL',
		saying([{ type: 'image_url', image_url: { url: 'data:,x' } }]),
		'entry 1, image is a data: URL',
	],
	...[
		...['system', 'user'].map((role) => ({ role, content: 'Hi', tool_calls: [CALL] })),
		{ ...USER, tool_calls: [] },
	].map((message): Row => [
		`tool_calls of another role: ${JSON.stringify(message)}`,
		[message, RESULT, USER],
		'entry 1 has tool_calls, but not the role assistant',
	]),
	[
		'tool_calls of a tool',
		[USER, asking(CALL), { ...RESULT, tool_calls: [CALL] }],
		'entry 3 has tool_calls, but not the role assistant',
	],
	...[
		...['system', 'user', 'assistant'].map((role) => ({ ...RESULT, role })),
		{ ...USER, tool_call_id: '' },
	].map((message): Row => [
		`a tool_call_id of another role: ${JSON.stringify(message)}`,
		[message, USER],
		'entry 1 has a tool_call_id, but not the role tool',
	]),
	...[undefined, '', 5].map((id): Row => [
		`a tool result with the tool_call_id ${JSON.stringify(id)}`,
		[USER, asking(CALL), { ...RESULT, tool_call_id: id }],
		'entry 3 has no tool_call_id',
	]),
	...[null, undefined, 5, [{ type: 'text', text: 'ok' }]].map((content): Row => [
		`a tool result with the content ${JSON.stringify(content)}`,
		[USER, asking(CALL), { ...RESULT, content }],
		'entry 3 has a tool result that is not a text',
	]),
	...[
		'a',
		...[
			5,
			{ ...CALL, id: undefined },
			{ ...CALL, id: '' },
			{ ...CALL, type: 'tool' },
			{ ...CALL, function: undefined },
			...[
				{ arguments: '{}' },
				{ name: 'look' },
				{ name: 'look', arguments: {} },
				{ name: 'look', arguments: '' },
				{ name: 'look', arguments: '{"a":' },
			].map((called) => ({ ...CALL, function: called })),
		].map((call) => [call]),
	].map((calls): Row => [
		`the tool_calls ${JSON.stringify(calls)}`,
		[USER, { ...asking(), tool_calls: calls }, RESULT],
		'entry 2 has tool_calls that are not a list of tool calls',
	]),
	[
		'a result without a call',
		[USER, RESULT],
		'entry 2 is a tool result without a matching tool call',
	],
	[
		'two results of a call',
		[USER, asking(CALL), RESULT, RESULT],
		'entry 4 is a tool result without a matching tool call',
	],
	[
		'a message before the result',
		[USER, asking(CALL), USER],
		'entry 3 comes before the result of the tool call a',
	],
	['a call without a result', [USER, asking(CALL)], 'has no result for the tool call a'],
];

const NO_SCHEMA = 'entry 1 (look) has parameters that are not an object schema';
const UNUSABLE = 'entry 1 (look) has a schema that cannot be used: ';

const TOOLS: readonly Row[] = [
	['tools that are no list', {}, 'is not a list'],
	['a tool without a type', [{ function: { name: 'look' } }], 'is not a tool declaration'],
	['a tool without a function', [{ type: 'function' }], 'entry 1 is not a tool declaration'],
	['a tool without a name', [{ type: 'function', function: {} }], 'entry 1 has no valid name'],
	[
		'a description that is no text',
		[tool({}, { description: 5 })],
		'entry 1 has a description that is not a text',
	],
	['parameters that are a text', [tool({}, { parameters: 'city' })], NO_SCHEMA],
	['parameters of another type', [tool({ type: 'string' })], NO_SCHEMA],
	['properties that are a list', [tool({ properties: [] })], UNUSABLE],
	['required that is a text', [tool({ properties: {}, required: 'city' })], UNUSABLE],
	['required that is a list of numbers', [tool({ properties: {}, required: [1] })], UNUSABLE],
	[
		'required names that do not exist',
		[tool({ properties: { city: { type: 'string' } }, required: ['city', 'town'] })],
		`${UNUSABLE}required: town is not in properties`,
	],
	['required names without properties', [tool({ required: ['city'] })], UNUSABLE],
];

/** Each with the label of the field in the forms. */
const OPTIONS: readonly (readonly [body: ChatBody, problem: string])[] = [
	[{ temperature: 1.1 }, 'Temperature is 1.1'],
	[{ temperature: -0.1 }, 'Temperature is -0.1'],
	[{ top_p: 1.5 }, 'Top P is 1.5'],
	[{ top_p: -0.5 }, 'Top P is -0.5'],
	[{ frequency_penalty: 2.5 }, 'Frequency Penalty is 2.5'],
	[{ presence_penalty: -2.5 }, 'Presence Penalty is -2.5'],
	[{ stop: ['1', '2', '3', '4', '5'] }, 'Stop Words has 5 entries'],
	[{ tool_choice: 'any' }, 'Tool Choice is any'],
	[{ tool_choice: 'required' }, 'Tool Choice is required, but there are no tools'],
];

/** What the service rejects in a chat request (spec 2.1 to 2.3, 8). */
export const REJECTED_BODIES: readonly RejectedBody[] = [
	...MESSAGES.map(([name, messages, problem]) => [name, { messages }, problem] as const),
	...TOOLS.map(([name, tools, problem]) => [name, { tools }, problem] as const),
	...OPTIONS.map(([body, problem]) => [JSON.stringify(body), body, problem] as const),
];

/** What the service takes as well, and what the nodes name as a mistake all the same. */
export const MISTAKEN_BODIES: readonly RejectedBody[] = [
	[
		'a reply at the end',
		{ messages: [USER, { role: 'assistant', content: 'Hi' }] },
		'the last entry has the role assistant',
	],
	['two tools of one name', { tools: [tool({}), tool({})] }, 'entry 2 repeats the name look'],
	[
		'a tool whose name has a blank',
		{ tools: [{ type: 'function', function: { name: 'look up' } }] },
		'entry 1 has no valid name',
	],
];

/** What the service accepts, near to what it rejects (spec 2.1 to 2.3). */
export const ACCEPTED_BODIES: readonly AcceptedBody[] = [
	...(
		[
			['parts of text', saying([{ type: 'text', text: 'Hi' }])],
			['an image without text', saying([IMAGE])],
			['an image and a blank text', saying([BLANK, IMAGE])],
			['an empty tool result', [USER, asking(CALL), { ...RESULT, content: '' }]],
			['empty content beside calls', [USER, { ...asking(CALL), content: '' }, RESULT]],
			['content beside calls', [USER, { ...asking(CALL), content: 'Wait' }, RESULT]],
			[
				'arguments that are JSON of another type',
				[USER, asking({ ...CALL, function: { name: 'look', arguments: '"x"' } }), RESULT],
			],
			[
				'results in another order',
				[
					...[USER, asking(CALL, { ...CALL, id: 'b' })],
					...[{ ...RESULT, tool_call_id: 'b' }, RESULT],
				],
			],
			['null in fields of other roles', [{ ...USER, tool_calls: null, tool_call_id: null }]],
			['unknown fields', [{ ...USER, name: 'Ann', custom: { deep: [1] } }]],
			[
				'unknown fields of a call',
				[USER, { ...asking({ ...CALL, index: 0 }), reasoning_content: 'Hm' }, RESULT],
			],
		] as const
	).map(([name, messages]) => [name, { messages }] as const),
	...(
		[
			['a tool with only a name', { type: 'function', function: { name: 'look' } }],
			['an empty description', tool({ properties: {}, required: [] }, { description: '' })],
			[
				'a required parameter',
				tool({ properties: { city: { type: 'string' } }, required: ['city'] }),
			],
			[
				'a required parameter that another schema declares',
				tool({ allOf: [{ properties: { city: { type: 'string' } } }], required: ['city'] }),
			],
		] as const
	).map(([name, each]) => [name, { tools: [each] }] as const),
	...[
		{ temperature: 0, top_p: 0, frequency_penalty: -2, presence_penalty: -2 },
		{ temperature: 1, top_p: 1, frequency_penalty: 2, presence_penalty: 2 },
		{ top_p: 0.5, stop: ['1', '2', '3', '4'], reasoning_effort: 'any' },
		{ tool_choice: 'auto' },
		{ tool_choice: 'none' },
	].map((body) => [JSON.stringify(body), body] as const),
];
