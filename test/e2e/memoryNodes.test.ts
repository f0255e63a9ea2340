import type { INode } from 'n8n-workflow';

import { failureOf } from '../../lab/n8n/execution';
import type { WorkflowRef } from '../../lab/n8n/N8nClient';
import type { ChatMessage } from '../../nodes/client/chat/types';
import { answersOf, useAgentSession } from './support/agentSession';
import { node, withSubNodes, workflow, type SubNode } from './support/buildWorkflow';
import { aiAgent, calculator, items, LANGCHAIN, start, withChatModel } from './support/drawAgent';
import { call, results } from './support/scriptedModel';
import { RUN_LIMIT_MS } from './support/session';

const session = useAgentSession();

beforeEach(() => {
	session.model.replyWith((messages) => `Re: ${String(messages.at(-1)!.content)}`);
});

const user = (content: string) => ({ role: 'user', content });
const says = (content: string) => ({ role: 'assistant', content });
const sent = () => session.model.requests.map(({ messages }) => messages);

/** Items with a session key and a text, given as `key: text`. */
const itemsOf = (...lines: readonly string[]) =>
	items(
		'Items',
		...lines.map((line) => {
			const [key, text] = line.split(': ');
			return { key, text };
		}),
	);
const simpleMemory = (sessionKey = '={{ $json.key }}'): SubNode => [
	node('Memory', `${LANGCHAIN}.memoryBufferWindow`, 1.3, {
		parameters: { sessionIdType: 'customKey', sessionKey },
	}),
	'ai_memory',
];
const answer = (parameters: object = {}, more: object = {}) => ({
	...node('Answer', 'n8n-nodes-agent-video.chatCompletion', 1, {
		parameters: { prompt: '={{ $json.text }}', ...parameters },
		credential: 'Model',
	}),
	...more,
});

/** A chat with Simple Memory. n8n keeps its texts by workflow and key. */
async function importChat(items: INode, chat: INode): Promise<WorkflowRef> {
	const base = workflow('Memory node', [start, items, chat]);
	return await session.client.importWorkflow(withSubNodes(base, 'Answer', [simpleMemory()]));
}

it(
	'Simple Memory keeps a conversation for the session key of each item, across executions',
	async () => {
		const items = itemsOf('ada: one', 'bob: two', 'ada: three');
		const ref = await importChat(items, answer({ systemMessage: 'Be brief' }));
		const execution = await session.execute(ref);
		expect(failureOf(execution)).toBe('');
		expect(answersOf(execution, 'Answer')).toStrictEqual(['Re: one', 'Re: two', 'Re: three']);
		const first = { role: 'system', content: 'Be brief' };
		expect(sent()).toStrictEqual([
			[first, user('one')],
			[first, user('two')],
			[first, user('one'), says('Re: one'), user('three')],
		]);
		expect(failureOf(await session.execute(ref))).toBe('');
		const texts = ['one', 'three', 'one'].flatMap((text) => [user(text), says(`Re: ${text}`)]);
		expect(sent().at(-1)).toStrictEqual([first, ...texts, user('three')]);
	},
	RUN_LIMIT_MS,
);

it(
	'with Retry On Fail a turn is there once',
	async () => {
		let failures = 1;
		session.model.replyWith((messages) => {
			const { content } = messages.at(-1)!;
			return content === 'two' && failures-- > 0 ? undefined : `Re: ${String(content)}`;
		});
		const once = { options: { retries: 0 } };
		const tried = { retryOnFail: true, maxTries: 2, waitBetweenTries: 1 };
		const ref = await importChat(itemsOf('ada: one', 'ada: two'), answer(once, tried));
		expect(failureOf(await session.execute(ref))).toBe('');
		expect(sent().at(-1)).toStrictEqual([user('one'), says('Re: one'), user('two')]);
	},
	RUN_LIMIT_MS,
);

it.each([
	[
		'a memory of its own as well',
		{ memory: 'key', memoryKey: 'k' },
		'ada: one',
		/Memory is set, but/,
	],
	['no session key', {}, ': one', /sub-node Memory – Key parameter is empty/],
	[
		'a tool result without its question',
		{
			input: 'json',
			messagesJson: [
				{ role: 'assistant', content: null, tool_calls: [call('c1', 'look', {})] },
				{ role: 'tool', tool_call_id: 'c1', content: '20' },
			],
		},
		'ada: one',
		/Memory needs a message with the role user/,
	],
])(
	'%s is an error before anything is paid',
	async (_name, parameters, line, message) => {
		const ref = await importChat(itemsOf(line), answer(parameters));
		expect(failureOf(await session.execute(ref))).toMatch(message);
		expect(session.model.requests).toHaveLength(0);
	},
	RUN_LIMIT_MS,
);

it(
	'what AI Agent has kept in the same memory node is read, without its tool calls',
	async () => {
		session.model.replyWith((messages, tools) => {
			if (tools.length === 0) return 'Yes';
			return results(messages).length > 0
				? 'It is 2'
				: [call('c1', 'Calculator', { input: '1 + 1' })];
		});
		const line = [start, itemsOf('ada: Sure?'), aiAgent('How much is it?')];
		const base = workflow('Shared', [...line, answer({ prompt: 'Sure?' })]);
		const [memory, type] = simpleMemory('shared');
		const under = withChatModel(base, calculator, [memory, type]);
		const links = ['AI Agent', 'Answer'].map((name) => ({ node: name, type, index: 0 }));
		const connections = { ...under.connections, Memory: { [type]: [links] } };
		expect(failureOf(await session.execute({ ...under, connections }))).toBe('');
		const last: readonly ChatMessage[] = sent().at(-1)!;
		expect(last).toStrictEqual([user('How much is it?'), says('It is 2'), user('Sure?')]);
	},
	RUN_LIMIT_MS,
);

it(
	'as a tool, which n8n gives no inputs, it answers without a memory node',
	async () => {
		session.model.replyWith((messages, tools) => {
			if (tools.length === 0) return 'From the tool';
			return results(messages).length > 0 ? 'Done' : [call('c1', 'Answer', { prompt: 'Hi' })];
		});
		const tool = node('Answer', 'n8n-nodes-agent-video.chatCompletionTool', 1, {
			parameters: { prompt: "={{ $fromAI('prompt', `What is wanted`, 'string') }}" },
			credential: 'Model',
		});
		const flow = withChatModel(workflow('Tool', [start, aiAgent('Go')]), [tool, 'ai_tool']);
		expect(failureOf(await session.execute(flow))).toBe('');
		const [result] = results(sent().at(-1)!);
		expect(result!.content).toContain('From the tool');
	},
	RUN_LIMIT_MS,
);
