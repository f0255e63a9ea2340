/** Calls the service with LangChain and prints the results as JSON: `node langchain.mts <base URL> <key>`. */
import { ChatOpenAI } from '@langchain/openai';

const [baseURL = '', apiKey = ''] = process.argv.slice(2);
const model = new ChatOpenAI({
	model: 'chat-m1',
	apiKey,
	configuration: { baseURL },
	maxRetries: 0,
	streamUsage: true,
});

const weather = {
	type: 'function',
	function: {
		name: 'get_weather',
		description: 'Get the current weather of a city',
		parameters: {
			type: 'object',
			properties: { city: { type: 'string' } },
			required: ['city'],
		},
	},
};

const tokens = (message: object): number =>
	(message as { usage_metadata?: { total_tokens: number } }).usage_metadata?.total_tokens ?? 0;

const prompt = 'What is 2 + 2?';
const plain = await model.invoke(prompt);
let streamedText = '';
let streamedTokens = 0;
for await (const chunk of await model.stream(prompt)) {
	streamedText += chunk.text;
	streamedTokens += tokens(chunk);
}

const bound = model.bindTools([weather]);
const question = { role: 'user', content: 'What is the weather in Paris and Rome?' };
const call = await bound.invoke([question]);
const results = (call.tool_calls ?? []).map(({ id = '' }) => ({
	role: 'tool',
	tool_call_id: id,
	content: '{"sky": "clear"}',
}));
const answer = await bound.invoke([question, call, ...results]);

console.log(
	JSON.stringify({
		text: plain.text,
		totalTokens: tokens(plain),
		streamedText,
		streamedTokens,
		answer: answer.text,
		toolInputs: call.tool_calls?.map(({ args }) => (args as { city: string }).city),
	}),
);
