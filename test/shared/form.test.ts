import type { ILoadOptionsFunctions, INodeProperties } from 'n8n-workflow';

import { AgentVideoChatModel } from '../../nodes/AgentVideoChatModel/AgentVideoChatModel.node';
import { ChatCompletion } from '../../nodes/ChatCompletion/ChatCompletion.node';
import { extraFields } from '../../nodes/client/chat/requestFields';
import { InputError } from '../../nodes/client/errors';
import { FunctionCallingAgent } from '../../nodes/FunctionCallingAgent/FunctionCallingAgent.node';
import { chatListSearch } from '../../nodes/shared/chat/properties';
import { callFields, optionalFields, requestFields } from '../../nodes/shared/chat/requestOptions';
import {
	choice as choiceOf,
	form,
	number,
	toggle,
	trimmed,
	type Declared,
} from '../../nodes/shared/form/form';

const inputError = (message: string, hint: unknown) =>
	expect.objectContaining({ message, hint }) as Error;

/** Reads a field of a form whose parameter has this value. */
function reader<T>(field: Declared<T>) {
	const declared = form({ field }).fields.field;
	const read = (value: unknown): T =>
		declared.read(
			{
				getNodeParameter: (_name: string, _item: number, fallback: unknown) =>
					value === undefined ? fallback : value,
			},
			0,
		);
	return Object.assign(read, { property: declared.properties[0]! });
}

describe('a number', () => {
	const range = { default: 60, min: 0.5, max: 100 };
	const seconds = reader(number('Timeout', { unit: 'Seconds', help: 'Idle timeout', ...range }));
	const whole = { default: 2, min: 0, integer: true };
	const count = reader(number('Retries', { help: 'How often', ...whole }));

	test('has its bounds in the form', () => {
		expect(seconds.property).toMatchObject({
			...{ displayName: 'Timeout (Seconds)', type: 'number', default: 60 },
			typeOptions: { minValue: 0.5, maxValue: 100 },
		});
		expect(count.property.typeOptions).toStrictEqual({ minValue: 0, numberPrecision: 0 });
	});

	test.each([
		[undefined, 60],
		[null, 60],
		['', 60],
		[' ', 60],
		[0.5, 0.5],
		[100, 100],
		['7', 7],
	])('%j is read as %d', (value, read) => {
		expect(seconds(value)).toBe(read);
	});

	test.each([
		['abc', seconds, 'Timeout is abc', 'Enter a number from 0.5 to 100, e.g. 60'],
		[NaN, seconds, 'Timeout is NaN', 'Enter a number from 0.5 to 100, e.g. 60'],
		[0.4, seconds, 'Timeout is 0.4', 'Enter a number from 0.5 to 100, e.g. 60'],
		[101, seconds, 'Timeout is 101', 'Enter a number from 0.5 to 100, e.g. 60'],
		[[], seconds, 'Timeout is []', 'Enter a number from 0.5 to 100, e.g. 60'],
		[-1, count, 'Retries is -1', 'Enter a whole number of at least 0, e.g. 2'],
		[1.5, count, 'Retries is 1.5', 'Enter a whole number of at least 0, e.g. 2'],
	] as const)('%s is rejected by name', (value, read, message, hint) => {
		expect(() => read(value)).toThrow(InputError);
		expect(() => read(value)).toThrow(inputError(message, hint));
	});
});

test('a choice is one of its values, and the default where it is empty', () => {
	const choices = [
		['First', 'a'],
		['Second', 'b'],
	] as const;
	const read = reader(choiceOf<'a' | 'b'>('Mode', { help: 'Which one', default: 'a', choices }));
	expect(read('b')).toBe('b');
	expect(read(null)).toBe('a');
	expect(() => read('c')).toThrow(inputError('Mode is c', 'Choose one of: a, b'));
});

test('a switch is on or off, also as text or a number, and anything else is an error', () => {
	const read = reader(toggle('On', { help: 'Whether it is on' }));
	expect([true, 'TRUE', ' true ', 1, '1'].map(read)).toEqual(Array(5).fill(true));
	expect([false, 'FALSE', 0, '', undefined].map(read)).toEqual(Array(5).fill(false));
	expect(() => read('yes')).toThrow(inputError('On is yes', 'Enter true or false'));
});

test('a text is trimmed, and an empty one means its default, but not that of an expression', () => {
	const read = reader(trimmed('Name', { default: 'media' }));
	expect([' x ', '  '].map(read)).toStrictEqual(['x', 'media']);
	expect(reader(trimmed('Key', { default: '={{ $json.id }}' }))(undefined)).toBe('');
});

describe('the request fields of a chat', () => {
	const all = form({ ...requestFields, ...callFields });
	const chatFields = (options: object) => optionalFields(all.parse({ ...options }));
	const tool = (name: string, more: object = {}) => ({
		type: 'function',
		function: { name, ...more },
	});
	const effort = (mode: string, value: string) => ({
		reasoningEffort: { __rl: true, mode, value },
	});

	test('every field is sent under its name in the specification (spec 2.1)', () => {
		const options = {
			frequencyPenalty: -2,
			presencePenalty: 2,
			...effort('list', 'high'),
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

	const declared = [tool('a'), tool('b', { parameters: { type: 'object' } })];
	test.each([
		[{}, {}],
		[{ thinking: 'default' }, {}],
		[{ thinking: 'disabled' }, { thinking: { type: 'disabled' } }],
		[{ reasoningEffort: 'max' }, { reasoning_effort: 'max' }],
		[effort('id', ' max '), { reasoning_effort: 'max' }],
		[effort('id', ''), {}],
		[{ stop: 'END' }, { stop: ['END'] }],
		[{ stop: [] }, {}],
		[{ tools: '[]' }, {}],
		[{ stop: ['a', '', 'b'] }, { stop: ['a', 'b'] }],
		[{ temperature: '0.5' }, { temperature: 0.5 }],
		[{ temperature: 0 }, { temperature: 0 }],
		[{ temperature: '', topP: ' ', thinking: null, stop: undefined }, {}],
		[{ topP: 0.9 }, { top_p: 0.9 }],
		[{ tools: declared }, { tools: declared }],
	])('%j becomes %j', (options, fields) => {
		expect(chatFields(options)).toStrictEqual(fields);
	});

	const WARMTH = 'Enter a number from 0 to 1, e.g. 0.7';
	const PENALTY = 'Enter a number from -2 to 2, e.g. 0';
	const TOP = 'Enter a number from 0 to 1, e.g. 1';
	const LIST = expect.stringContaining('JSON list') as string;
	const ANY = expect.any(String) as string;
	const text = { parameters: { type: 'string' } };
	test.each([
		[{ temperature: 1.5 }, 'Temperature is 1.5', WARMTH],
		[{ temperature: -0.1 }, 'Temperature is -0.1', WARMTH],
		[{ temperature: 'warm' }, 'Temperature is warm', WARMTH],
		[{ frequencyPenalty: 2.1 }, 'Frequency Penalty is 2.1', PENALTY],
		[{ presencePenalty: -2.1 }, 'Presence Penalty is -2.1', PENALTY],
		[{ topP: -1 }, 'Top P is -1', TOP],
		[{ topP: 1.1 }, 'Top P is 1.1', TOP],
		[{ topP: NaN }, 'Top P is NaN', TOP],
		[{ stop: ['a', 'b', 'c', 'd', 'e'] }, 'Stop Words has 5 entries', 'Enter at most 4'],
		[{ thinking: 'maybe' }, 'Thinking is maybe', 'Choose one of: default, enabled, disabled'],
		[{ toolChoice: 'all' }, 'Tool Choice is all', 'Choose one of: auto, none, required'],
		[{ tools: '[' }, 'Tools is not valid JSON', 'Check quotes, commas and brackets'],
		[{ tools: '{}' }, 'Tools is not a list', LIST],
		[{ tools: [{ name: 'a' }] }, 'Tools: entry 1 is not a tool declaration', ANY],
		[{ tools: [tool('a b')] }, 'Tools: entry 1 has no valid name', ANY],
		[{ tools: [tool('a'), tool('a')] }, 'Tools: entry 2 repeats the name a', ANY],
		[
			{ tools: [tool('a', text)] },
			'Tools: entry 1 (a) has parameters that are not an object schema',
			ANY,
		],
		[
			{ extraBody: '{"stream": true}' },
			'Extra Body Fields contains "stream"',
			'Remove it: the form sets messages, app_code, stream',
		],
	])('what the specification does not allow is rejected: %j: %s', (options, message, hint) => {
		expect(() => chatFields(options)).toThrow(inputError(message, hint));
	});

	test.each([
		['{"seed": 7, "n": {"a": [1]}}', { seed: 7, n: { a: [1] } }],
		[{ seed: 7 }, { seed: 7 }],
		['{seed: 7}', 'Extra Body Fields is not valid JSON'],
		['[1]', 'Extra Body Fields is not a JSON object'],
		['{"messages": []}', 'Extra Body Fields contains "messages"'],
	])('extra fields %j are %j', (entered, read) => {
		if (typeof read === 'string') expect(() => extraFields(entered)).toThrow(read);
		else expect(extraFields(entered)).toStrictEqual(read);
	});
});

describe('the lists of a form', () => {
	/** The list search methods that these fields and the fields in them name. */
	const methodsOf = (fields: readonly INodeProperties[]): string[] =>
		fields.flatMap(({ modes = [], options = [] }) => [
			...modes.flatMap(({ typeOptions }) => typeOptions?.searchListMethod ?? []),
			...methodsOf(options.filter((option): option is INodeProperties => 'type' in option)),
		]);

	test.each([new ChatCompletion(), new FunctionCallingAgent(), new AgentVideoChatModel()])(
		'$description.displayName has every list search method that its form names',
		({ description, methods }) => {
			const named = methodsOf(description.properties);
			expect(named).not.toHaveLength(0);
			expect(Object.keys(methods.listSearch)).toEqual(expect.arrayContaining(named));
		},
	);

	test('the list of reasoning efforts has those of the specification, and is searched by name and value', async () => {
		const valuesOf = async (filter?: string) => {
			const search = chatListSearch['searchReasoningEffort']!;
			const { results } = await search.call({} as ILoadOptionsFunctions, filter);
			return results.map(({ value }) => value);
		};
		const efforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh'];
		expect(await valuesOf()).toStrictEqual(efforts);
		expect(await valuesOf('HIGH')).toStrictEqual(['high', 'xhigh']);
	});
});
