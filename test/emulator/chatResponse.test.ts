import { startService, user, type Json, type TestService } from './support/service';

let service: TestService;
let minimal: TestService;
beforeAll(async () => {
	[service, minimal] = await Promise.all([startService(), startService({ minimal: true })]);
});
afterAll(() => Promise.all([service.stop(), minimal.stop()]));

const SUM = { messages: [user('What is 2 + 2?')], model: 'chat-m2' };

describe('2.4 non-streamed chat response', () => {
	it('2.4 usage includes the setting, the history, the retrieved knowledge and the question', async () => {
		const promptTokens = async (more: Json) =>
			(await service.chat({ ...SUM, ...more })).body.usage.prompt_tokens;
		const question = user('Which aspect ratio fits best?');
		const alone = await promptTokens({ messages: [question] });
		const history = [user('Hi'), { role: 'assistant', content: 'Hello, how can I help?' }];

		expect(await promptTokens({ messages: [...history, question] })).toBeGreaterThan(alone);
		const bound = await promptTokens({ messages: [question], app_code: 'demo-app' });
		expect(bound).toBeGreaterThan(alone + 15);
		for (const more of [{}, { model: 'chat-m1' }, { app_code: 'demo-assistant' }]) {
			const { usage } = (await service.chat({ ...SUM, ...more })).body;
			expect(usage.total_tokens).toBe(usage.prompt_tokens + usage.completion_tokens);
		}
	});
});

describe('2.6 extra fields', () => {
	const ask = (content: string, more: Json = { app_code: 'demo-app' }) =>
		service.chat({ messages: [user(content)], ...more });

	it('2.6 knowledge_base tells whether retrieval has a hit, and the answer uses the record', async () => {
		const hit = (await ask('Tell me about aspect ratio')).body;
		const miss = (await ask('Who won the match?')).body;

		expect(hit.knowledge_base).toEqual({ search_hit: true, first_similarity: 1 });
		expect(hit.choices[0]!.message.content).toMatch(/^Use the aspect ratio 16:9 for landscape/);
		expect(miss.knowledge_base).toEqual({ search_hit: false, first_similarity: 0 });
	});

	it('2.6 agent describes the plugin, and the generated file can be downloaded', async () => {
		const { body } = await ask('Draw a picture of a red fox');
		const url = /\((http[^)]+)\)/.exec(body.choices[0]!.message.content!)![1]!;

		expect(body.agent).toEqual({
			status: 'success',
			chain: [
				{
					plugin_name: 'image_generation',
					thought: 'The user wants a picture.',
					plugin_input: { prompt: 'a red fox' },
				},
			],
			need_show_plugin: true,
		});
		expect((await fetch(url)).headers.get('content-type')).toBe('image/jpeg');

		const file = (await ask('Write a file about invoices')).body;
		const link = /\((http[^)]+)\)/.exec(file.choices[0]!.message.content!)![1]!;
		expect(await (await fetch(link)).text()).toBe('invoices\n');
	});

	it('2.6 has no extra fields without an application', async () => {
		const { body } = await ask('Draw a picture of a red fox', {});
		expect(body).not.toHaveProperty('knowledge_base');
		expect(body).not.toHaveProperty('suggested_questions');
		expect(body).not.toHaveProperty('agent');
	});

	it('2.6 trace_id is unique per request', async () => {
		const ids = [(await ask('Hi')).body.trace_id, (await ask('Hi')).body.trace_id];
		expect(new Set(ids).size).toBe(2);
	});
});
