/** The body of a chat request, without the fields that are the same for all rows. */
export type ChatBody = Readonly<Record<string, unknown>>;

/** A body that the service rejects with status 400. */
export interface RejectedBody {
	readonly name: string;
	/** Section of the specification that the body breaks. */
	readonly spec: string;
	readonly body: ChatBody;
	/** The problem, as the error of a node names it after the label of its field. */
	readonly problem: string;
}

/** A body that the service accepts. */
export type AcceptedBody = Omit<RejectedBody, 'problem'>;

const USER = { role: 'user', content: 'Hi' };
const CALL = { id: 'a', type: 'function', function: { name: 'look', arguments: '{}' } };
const RESULT = { role: 'tool', tool_call_id: 'a', content: 'ok' };
const IMAGE = { type: 'image_url', image_url: { url: 'https://example.com/fox.jpg' } };
const asking = (...tool_calls: unknown[]) => ({ role: 'assistant', content: null, tool_calls });
/** A tool whose parameters have these fields beside their type. */
const tool = (parameters: object, more: object = {}) => ({
	type: 'function',
	function: { name: 'look', parameters: { type: 'object', ...parameters }, ...more },
});

const NO_CONTENT = 'entry 1 has no content';
const NO_ROLE = 'entry 1 has an unknown role';
const NO_CALLS = 'entry 2 has tool_calls that are not a list of tool calls';
const NO_RESULT_TEXT = 'entry 3 has a tool result that is not a text';
const NO_SCHEMA = 'entry 1 (look) has parameters that are not an object schema';
const UNUSABLE = 'entry 1 (look) has a schema that cannot be used: ';

type Row = readonly [name: string, value: unknown, problem: string];

const MESSAGES: readonly Row[] = [
	['no messages', [], 'is empty'],
	['messages that are no list', {}, 'is not a list'],
	['a message that is no object', ['Hi'], NO_ROLE],
	['no role', [{ content: 'Hi' }], NO_ROLE],
	['an unknown role', [{ role: 'bot', content: 'Hi' }], NO_ROLE],
	['empty content', [{ role: 'user', content: '' }], NO_CONTENT],
	['blank content', [{ role: 'user', content: ' \n' }], NO_CONTENT],
	['null content', [{ role: 'user', content: null }], NO_CONTENT],
	['no content', [{ role: 'user' }], NO_CONTENT],
	['no parts', [{ role: 'user', content: [] }], NO_CONTENT],
	['only blank parts', [{ role: 'user', content: [{ type: 'text', text: ' ' }] }], NO_CONTENT],
	['an empty system message', [{ role: 'system', content: '' }, USER], NO_CONTENT],
	['an empty reply', [{ role: 'assistant', content: null }, USER], NO_CONTENT],
	['a reply with no calls', [{ role: 'assistant', tool_calls: [] }, USER], NO_CONTENT],
	[
		'content that is a number',
		[{ role: 'user', content: 5 }],
		'entry 1 has content that is neither a text nor a list of parts',
	],
	[
		'content that is an object beside calls',
		[USER, { ...asking(CALL), content: {} }, RESULT],
		'entry 2 has content that is neither a text nor a list of parts',
	],
	[
		'an unknown part',
		[{ role: 'user', content: [{ type: 'audio' }] }],
		'entry 1 has a part that is neither text nor image',
	],
	[
		'a text part without text',
		[{ role: 'user', content: [{ type: 'text' }, IMAGE] }],
		'entry 1 has a part that is neither text nor image',
	],
	[
		'an image part without a URL',
		[{ role: 'user', content: [{ type: 'image_url', image_url: {} }] }],
		'entry 1 has a part that is neither text nor image',
	],
	[
		'an image that is no URL',
		[{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:,x' } }] }],
		'entry 1, image is a data: URL',
	],
	...['system', 'user'].map((role): Row => [
		`tool_calls of the role ${role}`,
		[{ role, content: 'Hi', tool_calls: [CALL] }, RESULT, USER],
		'entry 1 has tool_calls, but not the role assistant',
	]),
	[
		'an empty list of tool_calls of a user',
		[{ ...USER, tool_calls: [] }],
		'entry 1 has tool_calls, but not the role assistant',
	],
	[
		'tool_calls of a tool',
		[USER, asking(CALL), { ...RESULT, tool_calls: [CALL] }],
		'entry 3 has tool_calls, but not the role assistant',
	],
	...['system', 'user', 'assistant'].map((role): Row => [
		`a tool_call_id of the role ${role}`,
		[{ role, content: 'Hi', tool_call_id: 'a' }, USER],
		'entry 1 has a tool_call_id, but not the role tool',
	]),
	[
		'an empty tool_call_id of a user',
		[{ ...USER, tool_call_id: '' }],
		'entry 1 has a tool_call_id, but not the role tool',
	],
	...[undefined, '', 5].map((id): Row => [
		`a tool result with the tool_call_id ${JSON.stringify(id)}`,
		[USER, asking(CALL), { ...RESULT, tool_call_id: id }],
		'entry 3 has no tool_call_id',
	]),
	...[null, undefined, 5, {}, [{ type: 'text', text: 'ok' }]].map((content): Row => [
		`a tool result with the content ${JSON.stringify(content)}`,
		[USER, asking(CALL), { ...RESULT, content }],
		NO_RESULT_TEXT,
	]),
	['tool_calls that are a text', [USER, { ...asking(), tool_calls: 'a' }, RESULT], NO_CALLS],
	...[
		5,
		{ ...CALL, id: undefined },
		{ ...CALL, id: '' },
		{ ...CALL, type: undefined },
		{ ...CALL, type: 'tool' },
		{ ...CALL, function: undefined },
		{ ...CALL, function: { arguments: '{}' } },
		{ ...CALL, function: { name: 'look' } },
		{ ...CALL, function: { name: 'look', arguments: {} } },
		{ ...CALL, function: { name: 'look', arguments: '' } },
		{ ...CALL, function: { name: 'look', arguments: '{"a":' } },
	].map((call): Row => [
		`the tool call ${JSON.stringify(call)}`,
		[USER, asking(call), RESULT],
		NO_CALLS,
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

const TOOLS: readonly Row[] = [
	['tools that are no list', {}, 'is not a list'],
	[
		'a tool without a type',
		[{ function: { name: 'look' } }],
		'entry 1 is not a tool declaration',
	],
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
const OPTIONS: readonly (readonly [spec: string, body: ChatBody, problem: string])[] = [
	['2.1', { temperature: 1.1 }, 'Temperature is 1.1'],
	['2.1', { temperature: -0.1 }, 'Temperature is -0.1'],
	['2.1', { top_p: 1.5 }, 'Top P is 1.5'],
	['2.1', { top_p: -0.5 }, 'Top P is -0.5'],
	['2.1', { frequency_penalty: 2.5 }, 'Frequency Penalty is 2.5'],
	['2.1', { presence_penalty: -2.5 }, 'Presence Penalty is -2.5'],
	['8', { stop: ['1', '2', '3', '4', '5'] }, 'Stop Words has 5 entries'],
	['2.1', { tool_choice: 'any' }, 'Tool Choice is any'],
	['2.1', { tool_choice: 'required' }, 'Tool Choice is required, but there are no tools'],
];

const rows = (field: string, spec: string, table: readonly Row[]): RejectedBody[] =>
	table.map(([name, value, problem]) => ({ name, spec, body: { [field]: value }, problem }));

/** What the service rejects in a chat request (spec 2.1 to 2.3, 8), by field. */
export const REJECTED_MESSAGES: readonly RejectedBody[] = rows('messages', '2.2', MESSAGES);
export const REJECTED_TOOLS: readonly RejectedBody[] = rows('tools', '2.3', TOOLS);
export const REJECTED_OPTIONS: readonly RejectedBody[] = OPTIONS.map(([spec, body, problem]) => ({
	name: JSON.stringify(body),
	spec,
	body,
	problem,
}));

/** What the service accepts, near to what it rejects (spec 2.1 to 2.3). */
export const ACCEPTED_BODIES: readonly AcceptedBody[] = [
	...[
		['parts of text', [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }]],
		['an image without text', [{ role: 'user', content: [IMAGE] }]],
		[
			'an image and a blank text',
			[{ role: 'user', content: [{ type: 'text', text: '' }, IMAGE] }],
		],
		['an empty tool result', [USER, asking(CALL), { ...RESULT, content: '' }]],
		['empty content beside calls', [USER, { ...asking(CALL), content: '' }, RESULT]],
		['content beside calls', [USER, { ...asking(CALL), content: 'Wait' }, RESULT]],
		[
			'arguments that are JSON of another type',
			[USER, asking({ ...CALL, function: { name: 'look', arguments: '"x"' } }), RESULT],
		],
		[
			'results in another order',
			[USER, asking(CALL, { ...CALL, id: 'b' }), { ...RESULT, tool_call_id: 'b' }, RESULT],
		],
		['null in fields of other roles', [{ ...USER, tool_calls: null, tool_call_id: null }]],
		['unknown fields', [{ ...USER, name: 'Ann', custom: { deep: [1] } }]],
		[
			'unknown fields of a call',
			[USER, { ...asking({ ...CALL, index: 0 }), reasoning_content: 'Hm' }, RESULT],
		],
	].map(([name, messages]) => ({ name: String(name), spec: '2.2', body: { messages } })),
	...[
		['a tool with only a name', [{ type: 'function', function: { name: 'look' } }]],
		[
			'a tool without parameters',
			[tool({ properties: {}, required: [] }, { description: '' })],
		],
		[
			'a tool with a required parameter',
			[tool({ properties: { city: { type: 'string' } }, required: ['city'] })],
		],
		[
			'a required parameter that another schema declares',
			[tool({ allOf: [{ properties: { city: { type: 'string' } } }], required: ['city'] })],
		],
	].map(([name, tools]) => ({ name: String(name), spec: '2.3', body: { tools } })),
	...[
		{ temperature: 0, top_p: 0, frequency_penalty: -2, presence_penalty: -2 },
		{ temperature: 1, top_p: 1, frequency_penalty: 2, presence_penalty: 2 },
		{ top_p: 0.5, stop: ['1', '2', '3', '4'], reasoning_effort: 'any' },
		{ tool_choice: 'auto' },
		{ tool_choice: 'none' },
	].map((body) => ({ name: JSON.stringify(body), spec: '2.1', body })),
];
