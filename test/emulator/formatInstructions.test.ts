/** What n8n's text nodes send: the instructions of LangChain's parsers, with the system prompts of the nodes. */
import { startService, user, type Json, type TestService } from './support/service';

let service: TestService;
beforeAll(async () => {
	service = await startService();
});
afterAll(() => service.stop());

/** LangChain's `StructuredOutputParser.getFormatInstructions()`. */
const format = (properties: Json, required = Object.keys(properties)) =>
	`You must format your output as a JSON value that adheres to a given "JSON Schema" instance.

"JSON Schema" is a declarative language that allows you to annotate and validate JSON documents.

For example, the example "JSON Schema" instance {{"properties": {{"foo": {{"description": "a list of test words", "type": "array", "items": {{"type": "string"}}}}}}, "required": ["foo"]}}}}
would match an object with one required property, "foo". The "type" property specifies "foo" must be an "array", and the "description" property semantically describes it as "a list of test words". The items within "foo" must be strings.
Thus, the object {{"foo": ["bar", "baz"]}} is a well-formatted instance of this example "JSON Schema". The object {{"properties": {{"foo": ["bar", "baz"]}}}} is not well-formatted.

Your output will be parsed and type-checked according to the provided schema instance, so make sure all fields in your output match the schema exactly and there are no trailing commas!

Here is the JSON Schema instance your output must adhere to. Include the enclosing markdown codeblock:
\`\`\`json
${JSON.stringify({ type: 'object', properties, required, additionalProperties: false, $schema: 'http://json-schema.org/draft-07/schema#' })}
\`\`\`
`;
const text = { type: 'string' };
const number = { type: 'number' };
const share = { type: 'number', minimum: 0, maximum: 1 };
const object = (properties: Json) => ({
	type: 'object',
	properties,
	required: Object.keys(properties),
});
const category = (name: string, description = '') => ({
	type: 'boolean',
	description: `Should be true if the input has category "${name}" (description: ${description})`,
});
const OTHER = {
	type: 'boolean',
	description: 'Should be true if none of the other categories apply',
};

const extractor = (properties: Json, required?: string[]) =>
	`You are an expert extraction algorithm.
Only extract relevant information from the text.
If you do not know the value of an attribute asked to extract, you may omit the attribute's value.
${format(properties, required)}`;
const classifier = (categories: Json, isExclusive = true) =>
	`Please classify the text provided by the user into one of the following categories: ${Object.keys(categories).join(', ')}, and use the provided formatting instructions below. Don't explain, and only output the json.
	${format(categories)}
	${isExclusive ? 'Categories are mutually exclusive, and only one can be true' : 'Categories are not mutually exclusive, and multiple can be true'}
	${'fallback' in categories ? 'If no categories apply, select the "fallback" option.' : 'If there is not a very fitting category, select none of the categories.'}`;
const sentiment = (categories: string) =>
	`You are highly intelligent and accurate sentiment analyzer. Analyze the sentiment of the provided text. Categorize it into one of the following: ${categories}. Use the provided formatting instructions. Only output the JSON.
				${format({ sentiment: { type: 'string', enum: categories.split(', ') }, strength: share, confidence: share })}`;

const CITIES = { City: category('City', 'Rome, Paris'), Animal: category('Animal') };
const DESKS = {
	Billing: category('Billing', 'invoices, payments'),
	Technical: category('Technical', 'the app does not work'),
	fallback: OTHER,
};
const PERSON = { name: text, email: text, phone: text };

async function reply(system: string, question: string): Promise<unknown> {
	const messages = [...(system ? [{ role: 'system', content: system }] : []), user(question)];
	const { content } = await service.say('', { messages });
	return JSON.parse(content ?? '');
}

it.each<[string, string, string, Json]>([
	[
		'Information Extractor',
		extractor({ city: text, people: number }),
		'Three people go to Rome',
		{ city: 'Rome', people: 3 },
	],
	[
		'Information Extractor, an attribute that the text does not have',
		extractor(PERSON, ['name']),
		'Hello, my name is Ann Lee, write to ann@example.com.',
		{ name: 'Ann Lee', email: 'ann@example.com' },
	],
	['Text Classifier', classifier(CITIES), 'A week in Rome', { City: true, Animal: false }],
	[
		'Text Classifier, several',
		classifier(DESKS, false),
		'The invoice is wrong and the app crashes, it does not work',
		{ Billing: true, Technical: true, fallback: false },
	],
	[
		'Sentiment Analysis',
		sentiment('Positive, Neutral, Negative'),
		'I love this camera, it is great',
		{ sentiment: 'Positive' },
	],
	[
		'Structured Output Parser',
		'',
		`Three people go to Rome\n\n${format({ output: object({ city: text, people: number }) })}`,
		{ output: { city: 'Rome', people: 3 } },
	],
	[
		'Guardrails',
		`Is it spam?\n\n${format({ confidenceScore: share, flagged: { type: 'boolean' } })}\nOnly JSON.`,
		'See you tomorrow at ten',
		{ flagged: false },
	],
])('%s: the answer has the values of the text', async (_name, system, question, values) => {
	const given = (await reply(system, question)) as Json;
	expect(given).toMatchObject(values);
	for (const share of ['strength', 'confidence', 'confidenceScore'].map((name) => given[name]))
		if (share !== undefined) expect(share).toBeLessThanOrEqual(1);
	if (_name.includes('does not have')) expect(given).not.toHaveProperty('phone');
});

it('AI Agent with a parser: calls the tool for its answer, after the tools that it needs', async () => {
	const tool = (name: string, description: string, parameters: Json) => ({
		type: 'function',
		function: { name, description, parameters },
	});
	const tools = [
		tool('get_weather', 'Get the weather of a city', object({ city: text })),
		tool(
			'format_final_json_response',
			'Use this tool to format your final response to the user in a structured JSON format. This tool validates your output against a schema to ensure it meets the required format. ONLY use this tool when you have completed all necessary reasoning and are ready to provide your final answer.',
			object({ output: object({ city: text, sky: text }) }),
		),
	];
	const messages: unknown[] = [
		{
			role: 'system',
			content:
				'You are a helpful assistant\n\nIMPORTANT: For your response to user, you MUST use the `format_final_json_response` tool with your complete answer formatted according to the required schema. Do not attempt to format the JSON manually - always use this tool. Your response will be rejected if it is not properly formatted through this tool. Only use this tool once you are ready to provide your final answer.',
		},
		user('How is the weather in Rome?'),
	];
	const ask = async () => (await service.chat({ messages, tools })).body.choices[0]!.message;
	const first = await ask();
	expect(first.tool_calls?.map((call) => call.function.name)).toEqual(['get_weather']);
	messages.push(first, {
		role: 'tool',
		tool_call_id: first.tool_calls![0]!.id,
		content: '{"sky": "clear"}',
	});
	const [last, ...more] = (await ask()).tool_calls ?? [];
	expect(more).toEqual([]);
	expect(last?.function.name).toBe('format_final_json_response');
	expect(JSON.parse(last!.function.arguments)).toEqual({
		output: { city: 'Rome', sky: 'clear' },
	});
});
