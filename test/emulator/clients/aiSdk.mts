/** Talks to the service with the AI SDK and prints what came back: `node aiSdk.mts <base URL> <key>`. */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, jsonSchema, stepCountIs, streamText, tool } from 'ai';

const [baseURL = '', apiKey = ''] = process.argv.slice(2);
const provider = createOpenAICompatible({ name: 'service', baseURL, apiKey, includeUsage: true });
const model = provider('chat-m1');

const asked: string[] = [];
const tools = {
	get_weather: tool({
		description: 'Get the current weather of a city',
		inputSchema: jsonSchema<{ city: string }>({
			type: 'object',
			properties: { city: { type: 'string' } },
			required: ['city'],
		}),
		execute: ({ city }) => {
			asked.push(city);
			return Promise.resolve({ sky: 'clear' });
		},
	}),
};

const prompt = 'What is 2 + 2?';
const weather = 'What is the weather in Paris and Rome?';
const plain = await generateText({ model, prompt, maxRetries: 0 });
const streamed = streamText({ model, prompt, maxRetries: 0 });
const looped = await generateText({ model, tools, prompt: weather, stopWhen: stepCountIs(4) });
const loopedStream = streamText({ model, tools, prompt: weather, stopWhen: stepCountIs(4) });

console.log(
	JSON.stringify({
		text: plain.text,
		totalTokens: plain.usage.totalTokens,
		reasons: (plain.finalStep.reasoningText ?? '').length > 0,
		streamedText: await streamed.text,
		streamedTokens: (await streamed.usage).totalTokens,
		answer: looped.text,
		streamedAnswer: await loopedStream.text,
		asked,
	}),
);
