import { extraFields } from '../../nodes/client/chat/requestFields';
import { callFields, optionalFields, requestFields } from '../../nodes/shared/chat/requestOptions';
import { form as fieldsOf } from '../../nodes/shared/form/form';

const form = fieldsOf({ ...requestFields, ...callFields });

/** The request fields of an item with these options. */
const chatFields = (options: object) => optionalFields(form.parse({ ...options }));

const tool = (name: string, more: object = {}) => ({
	type: 'function',
	function: { name, ...more },
});

test('no options give no request fields', () => {
	expect(chatFields({})).toStrictEqual({});
});

test('every field is sent under its name in the specification (spec 2.1)', () => {
	const options = {
		frequencyPenalty: -2,
		presencePenalty: 2,
		reasoningEffort: { __rl: true, mode: 'list', value: 'high' },
		stop: ['END', 'STOP'],
		temperature: 0.3,
		thinking: 'enabled',
		toolChoice: 'required',
		tools: JSON.stringify([tool('weather')]),
		topP: 1,
	};
	expect(Object.keys(options).sort()).toStrictEqual(Object.keys(requestFields).sort());
	expect(chatFields(options)).toStrictEqual({
		frequency_penalty: -2,
		presence_penalty: 2,
		reasoning_effort: 'high',
		stop: ['END', 'STOP'],
		temperature: 0.3,
		thinking: { type: 'enabled' },
		tool_choice: 'required',
		tools: [tool('weather')],
		top_p: 1,
	});
});

test.each([
	[{ thinking: 'default' }, {}],
	[{ thinking: 'disabled' }, { thinking: { type: 'disabled' } }],
	[{ reasoningEffort: 'max' }, { reasoning_effort: 'max' }],
	[{ reasoningEffort: { __rl: true, mode: 'id', value: ' max ' } }, { reasoning_effort: 'max' }],
	[{ reasoningEffort: { __rl: true, mode: 'id', value: '' } }, {}],
	[{ stop: 'END' }, { stop: ['END'] }],
	[{ stop: [] }, {}],
	[{ tools: '[]' }, {}],
	[{ stop: ['a', '', 'b'] }, { stop: ['a', 'b'] }],
	[{ temperature: '0.5' }, { temperature: 0.5 }],
	[{ temperature: 0 }, { temperature: 0 }],
	[{ temperature: '', topP: ' ', thinking: null, stop: undefined }, {}],
	[{ topP: 0.9 }, { top_p: 0.9 }],
	[
		{ tools: [tool('a'), tool('b', { parameters: { type: 'object' } })] },
		{
			tools: [tool('a'), tool('b', { parameters: { type: 'object' } })],
		},
	],
])('%j becomes %j', (options, fields) => {
	expect(chatFields(options)).toStrictEqual(fields);
});

test.each([
	[{ temperature: 1.5 }, 'Temperature is 1.5', 'Enter a number from 0 to 1, e.g. 0.7'],
	[{ temperature: -0.1 }, 'Temperature is -0.1', 'Enter a number from 0 to 1, e.g. 0.7'],
	[{ temperature: 'warm' }, 'Temperature is warm', 'Enter a number from 0 to 1, e.g. 0.7'],
	[{ frequencyPenalty: 2.1 }, 'Frequency Penalty is 2.1', 'Enter a number from -2 to 2, e.g. 0'],
	[{ presencePenalty: -2.1 }, 'Presence Penalty is -2.1', 'Enter a number from -2 to 2, e.g. 0'],
	[{ topP: -1 }, 'Top P is -1', 'Enter a number from 0 to 1, e.g. 1'],
	[{ topP: 1.1 }, 'Top P is 1.1', 'Enter a number from 0 to 1, e.g. 1'],
	[{ topP: NaN }, 'Top P is NaN', 'Enter a number from 0 to 1, e.g. 1'],
	[{ stop: ['a', 'b', 'c', 'd', 'e'] }, 'Stop Words has 5 entries', 'Enter at most 4'],
	[{ thinking: 'maybe' }, 'Thinking is maybe', 'Choose one of: default, enabled, disabled'],
	[{ toolChoice: 'all' }, 'Tool Choice is all', 'Choose one of: auto, none, required'],
	[{ tools: '[' }, 'Tools is not valid JSON', 'Check quotes, commas and brackets'],
	[{ tools: '{}' }, 'Tools is not a list', expect.stringContaining('JSON list') as string],
	[
		{ tools: [{ name: 'a' }] },
		'Tools: entry 1 is not a tool declaration',
		expect.any(String) as string,
	],
	[{ tools: [tool('a b')] }, 'Tools: entry 1 has no valid name', expect.any(String) as string],
	[
		{ tools: [tool('a'), tool('a')] },
		'Tools: entry 2 repeats the name a',
		expect.any(String) as string,
	],
	[
		{ tools: [tool('a', { parameters: { type: 'string' } })] },
		'Tools: entry 1 (a) has parameters that are not an object schema',
		expect.any(String) as string,
	],
])('%j is rejected: %s', (options, message, hint) => {
	expect(() => chatFields(options)).toThrow(expect.objectContaining({ message, hint }) as Error);
});

describe('extra fields', () => {
	test('are sent unchanged, from text or from an expression', () => {
		expect(extraFields('{"seed": 7, "n": {"a": [1]}}')).toStrictEqual({
			seed: 7,
			n: { a: [1] },
		});
		expect(extraFields({ seed: 7 })).toStrictEqual({ seed: 7 });
	});

	test('what to do about a field that the node sets is true also where no field of the form sets it', () => {
		const enter = () => chatFields({ extraBody: '{"stream": true}' });
		expect(enter).toThrow(
			expect.objectContaining({
				hint: 'Remove it: the form sets messages, app_code, stream',
			}) as Error,
		);
	});

	test.each([
		['{seed: 7}', 'Extra Body Fields is not valid JSON'],
		['[1]', 'Extra Body Fields is not a JSON object'],
		['{"messages": []}', 'Extra Body Fields contains "messages"'],
		['{"stream": true}', 'Extra Body Fields contains "stream"'],
	])('%s is rejected: %s', (text, message) => {
		expect(() => extraFields(text)).toThrow(message);
	});
});
