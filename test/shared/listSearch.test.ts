import type { ILoadOptionsFunctions, INodeProperties } from 'n8n-workflow';

import { AgentVideoChatModel } from '../../nodes/AgentVideoChatModel/AgentVideoChatModel.node';
import { FunctionCallingAgent } from '../../nodes/FunctionCallingAgent/FunctionCallingAgent.node';
import { ChatCompletion } from '../../nodes/ChatCompletion/ChatCompletion.node';
import { chatListSearch } from '../../nodes/shared/chat/properties';

/** The list search methods that these fields and the fields in them name. */
function methodsOf(fields: readonly INodeProperties[]): string[] {
	return fields.flatMap(({ modes = [], options = [] }) => [
		...modes.flatMap(({ typeOptions }) => typeOptions?.searchListMethod ?? []),
		...methodsOf(options.filter((option): option is INodeProperties => 'type' in option)),
	]);
}

test.each([new ChatCompletion(), new FunctionCallingAgent(), new AgentVideoChatModel()])(
	'$description.displayName has every list search method that its form names',
	({ description, methods }) => {
		const named = methodsOf(description.properties);
		expect(named).not.toHaveLength(0);
		expect(Object.keys(methods.listSearch)).toEqual(expect.arrayContaining(named));
	},
);

test('a list is filtered by name and value', async () => {
	const context = {} as ILoadOptionsFunctions;
	const search = chatListSearch['searchReasoningEffort']!;
	const { results } = await search.call(context, 'HIGH');
	expect(results.map(({ value }) => value)).toStrictEqual(['high', 'xhigh']);
});
