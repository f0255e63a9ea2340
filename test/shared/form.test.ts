import type { ILoadOptionsFunctions, INodeProperties } from 'n8n-workflow';

import { AgentVideoChatModel } from '../../nodes/AgentVideoChatModel/AgentVideoChatModel.node';
import { ChatCompletion } from '../../nodes/ChatCompletion/ChatCompletion.node';
import { extraFields } from '../../nodes/client/chat/requestFields';
import { FunctionCallingAgent } from '../../nodes/FunctionCallingAgent/FunctionCallingAgent.node';
import { chatListSearch } from '../../nodes/shared/chat/properties';
import { toggle, trimmed } from '../../nodes/shared/form/form';

test('a switch is on or off, also as text or a number, and anything else is an error', () => {
	const { parse } = toggle('On', { help: 'Whether it is on' });
	expect([true, 'TRUE', ' true ', 1, '1'].map(parse)).toStrictEqual(Array(5).fill(true));
	expect([false, 'FALSE', 0, '', undefined].map(parse)).toStrictEqual(Array(5).fill(false));
	expect(() => parse('yes')).toThrow('On is yes');
});

test('a text is trimmed, and an empty one means its default, but not that of an expression', () => {
	const { parse } = trimmed('Name', { default: 'media' });
	expect([' x ', '  '].map(parse)).toStrictEqual(['x', 'media']);
	expect(trimmed('Key', { default: '={{ $json.id }}' }).parse('')).toBe('');
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
