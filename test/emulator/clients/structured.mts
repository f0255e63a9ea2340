/** Asks three clients for structured output and prints the results as JSON: `node structured.mts <base URL> <key>`. */
import Instructor from '@instructor-ai/instructor';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { ChatOpenAI } from '@langchain/openai';
import { generateText, Output } from 'ai';
import OpenAI from 'openai';
import { z } from 'zod';

const [baseURL = '', apiKey = ''] = process.argv.slice(2);
const model = 'gpt-4o';
const prompt = 'Review by Ann Lee, ann@example.com: I love it. Sentiment?';
const Review = z.object({
	name: z.string(),
	email: z.string().email(),
	sentiment: z.enum(['negative', 'positive']),
	stars: z.number().int().min(1).max(5),
});

const results: Record<string, unknown> = {};
for (const mode of ['TOOLS', 'FUNCTIONS', 'JSON', 'MD_JSON', 'JSON_SCHEMA'] as const) {
	const instructor = Instructor({
		client: new OpenAI({ baseURL, apiKey, maxRetries: 0 }) as never,
		mode,
	});
	results[`instructor ${mode}`] = await instructor.chat.completions
		.create({
			model,
			messages: [{ role: 'user', content: prompt }],
			response_model: { schema: Review, name: 'Review' },
		})
		.catch(String);
}
const chat = new ChatOpenAI({ model, apiKey, configuration: { baseURL }, maxRetries: 0 });
for (const method of ['jsonSchema', 'functionCalling', 'jsonMode'] as const)
	results[`langchain ${method}`] = await chat
		.withStructuredOutput(Review, { method })
		.invoke(
			method === 'jsonMode'
				? `As JSON with keys name, email, sentiment (negative, positive) and stars: ${prompt}`
				: prompt,
		)
		.catch(String);
for (const supportsStructuredOutputs of [true, false]) {
	const provider = createOpenAICompatible({
		name: 'emulator',
		baseURL,
		apiKey,
		supportsStructuredOutputs,
	});
	results[`ai-sdk ${supportsStructuredOutputs ? 'schema' : 'json'}`] = await generateText({
		model: provider(model),
		prompt: supportsStructuredOutputs
			? prompt
			: `As JSON with keys name, email, sentiment (negative, positive) and stars: ${prompt}`,
		output: Output.object({ schema: Review }),
		maxRetries: 0,
	}).then(({ output }) => output as unknown, String);
}
console.log(JSON.stringify(results));
