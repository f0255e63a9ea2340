import type { SdkChatModel } from '../../nodes/shared/chat/aiNodeSdk';
import { modelCallerNode, packageNode, runWorkflow } from '../support/engine';
import { json, startScriptedServer } from '../support/scriptedServer';

/** What n8n's SDK makes of a model: its log counts tokens, and with tools it makes another one. */
class Adapter {
	readonly callbacks: { estimateTokensFromStringList: typeof tokenizer }[] = [
		{ estimateTokensFromStringList: tokenizer },
	];
	constructor(readonly chatModel: SdkChatModel) {}
	async generate(...args: Parameters<SdkChatModel['generate']>) {
		return await this.chatModel.generate(...args);
	}
	async getNumTokens(content: string | readonly object[]) {
		return await tokenizer([JSON.stringify(content)]);
	}
	_streamResponseChunks = jest.fn();
	bindTools(): Adapter {
		return new Adapter(this.chatModel.withTools([]));
	}
}
const tokenizer = jest.fn((texts: string[]) => Promise.resolve(texts.length));
const supplied: Adapter[] = [];

jest.mock(
	'@n8n/ai-node-sdk',
	() => ({
		supplyModel: (_context: unknown, model: SdkChatModel) => {
			const adapter = new Adapter(model);
			supplied.push(adapter);
			return { response: adapter };
		},
	}),
	{ virtual: true },
);

test("n8n's log, memories and chains estimate tokens by length, also with tools: one tokenizer is quadratic, the other is downloaded", async () => {
	const server = await startScriptedServer((response) => {
		const message = { role: 'assistant', content: 'Hello' };
		json(response, 200, { choices: [{ index: 0, message, finish_reason: 'stop' }] });
	});
	const nodes = [
		packageNode('Model', 'agentVideoChatModel', {}),
		modelCallerNode('Chain', { stream: false }),
	];
	const { status } = await runWorkflow(nodes, {}, 'Chain', {
		credential: { baseUrl: server.url, apiKey: 'k' },
		model: { name: 'Model', of: 'Chain' },
	});
	await server.stop();
	expect(status).toBe('success');

	const [first] = supplied;
	const adapter = first!;
	for (const each of [adapter, adapter.bindTools(), adapter.bindTools().bindTools()]) {
		const [log] = each.callbacks;
		expect(await log!.estimateTokensFromStringList(['![![', 'abcdefgh'])).toBe(3);
		// Max Tokens To Read From Memory, and the Summarization Chain.
		expect(await each.getNumTokens('abcdefgh')).toBe(2);
		expect(await each.getNumTokens('一只猫')).toBe(3);
		const parts = [
			{ type: 'text', text: 'abcd' },
			{ type: 'image_url', image_url: 'data:' },
		];
		expect(await each.getNumTokens(parts)).toBe(1);
	}
	expect(tokenizer).not.toHaveBeenCalled();
});
