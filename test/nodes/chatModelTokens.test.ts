import type { SdkChatModel } from '../../nodes/shared/chat/aiNodeSdk';
import { modelCallerNode, packageNode, runWorkflow } from '../support/engine';
import { json, startScriptedServer } from '../support/scriptedServer';

/** What n8n's SDK makes of a model: its log counts tokens, and with tools it makes another one. */
class Adapter {
	readonly callbacks = [{ estimateTokensFromStringList: tokenizer }, {}];
	constructor(readonly model: SdkChatModel) {}
	async generate(...args: Parameters<SdkChatModel['generate']>) {
		return await this.model.generate(...args);
	}
	bindTools(): Adapter {
		return new Adapter(this.model.withTools([]));
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

test("n8n's log estimates tokens by length, also with tools: its tokenizer is quadratic", async () => {
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

	const [adapter] = supplied;
	for (const { callbacks } of [adapter!, adapter!.bindTools(), adapter!.bindTools().bindTools()])
		expect(await callbacks[0]!.estimateTokensFromStringList!(['![![', 'abcdefgh'])).toBe(3);
	expect(tokenizer).not.toHaveBeenCalled();
});
