// @seconds 10
import { failureOf, type Execution } from '../../lab/n8n/execution';
import { postWebhook } from '../../lab/n8n/postWebhook';
import { chatText, streamWebhook } from '../../lab/n8n/streamChat';
import type { ChatMessage } from '../../nodes/client/chat/types';
import { useAgentSession } from './support/agentSession';
import { node, webhook, withSubNodes, workflow } from './support/buildWorkflow';
import { LANGCHAIN, start } from './support/drawAgent';
import { call, results, type ModelRequest } from './support/scriptedModel';
import { RUN_LIMIT_MS } from './support/session';
import { PICTURE } from './support/uploadPicture';

const PACKAGE = 'n8n-nodes-agent-video';
const TOKENS = { promptTokens: 10, completionTokens: 5, totalTokens: 15 };

/** What n8n's log says of the tokens of each call. */
const tokensOf = ({ data }: Execution) =>
	data.resultData.runData['Model']!.map(
		(run) => run.data!['ai_languageModel']![0]![0]!.json['tokenUsage'],
	);

const session = useAgentSession();

const chatModel = (parameters: object = {}) =>
	node('Model', `${PACKAGE}.agentVideoChatModel`, 1, { parameters, credential: 'Model' });

/** An AI Agent with the package's chat model, and Create Video and Chat Completion as its tools. */
const agent = (path: string, responseMode: string) =>
	withSubNodes(
		workflow(path, [
			webhook(path, responseMode),
			node('Agent', `${LANGCHAIN}.agent`, 3.1, {
				parameters: {
					promptType: 'define',
					text: '={{ $json.body.question }}',
					options: {
						systemMessage: 'You make videos.',
						enableStreaming: true,
						forceToolCallOnFirstIteration: true,
					},
				},
			}),
		]),
		'Agent',
		[
			[
				chatModel({
					answeredBy: 'app',
					appCode: 'demo-app',
					model: { __rl: true, mode: 'id', value: 'chat-m1' },
					options: {
						temperature: 0.2,
						thinking: 'enabled',
						reasoningEffort: { __rl: true, mode: 'list', value: 'high' },
						extraBody: '{"seed": 3}',
					},
				}),
				'ai_languageModel',
			],
			[
				// Without any settings.
				node('Make video', `${PACKAGE}.createVideoTool`, 1, { credential: 'Emulator' }),
				'ai_tool',
			],
			[
				node('Ask expert', `${PACKAGE}.chatCompletionTool`, 1, {
					parameters: { answeredBy: 'app', appCode: 'demo-app' },
					credential: 'Emulator',
				}),
				'ai_tool',
			],
		],
	);

const CALLS = [
	call('c1', 'Make_video', { prompt: 'A lighthouse at dawn', aspect_ratio: '9:16' }),
	call('c2', 'Ask_expert', { prompt: 'What is 6 times 7?' }),
];

const answers = (messages: readonly ChatMessage[]) =>
	results(messages).length > 0 ? 'Your video is on its way.' : CALLS;

describe('AI Agent with the chat model and two nodes of the package as tools', () => {
	const check = () => {
		const { model } = session;
		const [first, second] = model.requests as [ModelRequest, ModelRequest];
		expect(model.requests).toHaveLength(2);
		expect(first).toMatchObject({
			// Whatever the agent asks for: some models only stream.
			stream: true,
			app_code: 'demo-app',
			model: 'chat-m1',
			temperature: 0.2,
			thinking: { type: 'enabled' },
			reasoning_effort: 'high',
			seed: 3,
			tool_choice: 'required',
			messages: [
				{ role: 'system', content: 'You make videos.' },
				{ role: 'user', content: 'A lighthouse, please' },
			],
		});
		expect(first.tools!.map(({ function: { name } }) => name).sort()).toStrictEqual([
			'Ask_expert',
			'Make_video',
		]);
		expect(second['tool_choice']).toBeUndefined();
		expect(second.tools).toStrictEqual(first.tools);
		// Both calls with their reasoning unchanged, then one result for each.
		expect(second.messages[2]).toStrictEqual({
			role: 'assistant',
			content: null,
			reasoning_content: 'A tool.',
			tool_calls: CALLS,
		});
		const given = second.messages.slice(3);
		expect(given).toStrictEqual(results(second.messages));
		expect(given.map(({ tool_call_id: id }) => id)).toStrictEqual(['c1', 'c2']);
		expect(given[0]!.content).toMatch(/task_id/);
		expect(given[1]!.content).toMatch(/42/);
		const { journal } = session.emulator;
		expect(journal.of('/v1/videos/generations').map(({ body }) => body)).toMatchObject([
			{ prompt: 'A lighthouse at dawn', aspect_ratio: '9:16' },
		]);
		expect(journal.of('/v1/chat/completions')).toHaveLength(1);
	};

	it(
		'calls tools and answers',
		async () => {
			session.model.replyWith(answers);
			const path = 'agent';
			await session.publish(agent(path, 'lastNode'));
			const question = 'A lighthouse, please';
			const url = `${session.n8n.url}/webhook/${path}`;
			const { data } = await postWebhook<{ output: string }>(url, { question });
			expect(data.output).toBe('Your video is on its way.');
			check();
		},
		RUN_LIMIT_MS,
	);

	it(
		'streams the answer',
		async () => {
			session.model.replyWith(answers);
			const path = 'agent-stream';
			const ref = await session.publish(agent(path, 'streaming'));
			const lines = await streamWebhook(`${session.n8n.url}/webhook/${path}`, {
				question: 'A lighthouse, please',
			});
			expect(chatText(lines)).toContain('Your video is on its way.');
			expect(lines.filter(({ type }) => type === 'item').length).toBeGreaterThan(3);
			check();
			const execution = await session.client.lastExecution(ref);
			expect(tokensOf(execution)).toStrictEqual([TOKENS, TOKENS]);
			expect(JSON.stringify(execution)).not.toContain('demo-key');
		},
		RUN_LIMIT_MS,
	);
});

const ALL_FILES = { source: 'binary', binaryProperty: '={{ Object.keys($binary) }}' };

it(
	'of the images that a Basic LLM Chain passes on only URLs are sent: others are rejected before it pays, or come from Images',
	async () => {
		const { model } = session;
		const ask = async (imagesOfChain: readonly object[], parameters: object) => {
			model.replyWith(() => 'A cat.');
			const chain = node('Chain', `${LANGCHAIN}.chainLlm`, 1.9, {
				parameters: {
					promptType: 'define',
					text: 'What is it?',
					messages: {
						messageValues: imagesOfChain.map((image) => ({
							type: 'HumanMessagePromptTemplate',
							...image,
						})),
					},
				},
			});
			const flow = workflow('Pictures', [
				start,
				node('Picture', 'n8n-nodes-base.code', 2, {
					parameters: {
						jsCode: `const binary = { photo: await this.helpers.prepareBinaryData(Buffer.from('${PICTURE}', 'base64'), 'cat.png', 'image/png') };
return [{ json: {}, binary }];`,
					},
				}),
				chain,
			]);
			const withModel = withSubNodes(flow, 'Chain', [
				[chatModel(parameters), 'ai_languageModel'],
			]);
			return failureOf(await session.execute(withModel));
		};
		const url = { messageType: 'imageUrl', imageUrl: 'https://cdn.example/cat.png' };
		const binary = { messageType: 'imageBinary', binaryImageDataKey: 'photo' };
		expect(await ask([url, binary], {})).toMatch(/Image 1 \(image\/png\) has no URL/);
		expect(model.requests).toHaveLength(0);

		expect(await ask([url, binary], { images: { image: [ALL_FILES] } })).toBe('');
		const image = (address: unknown) => ({ type: 'image_url', image_url: { url: address } });
		const signed = expect.stringContaining('binary-data/signed') as string;
		expect(model.requests.map(({ messages }) => messages)).toMatchObject([
			[
				{ role: 'user', content: [image(url.imageUrl)] },
				{ role: 'user', content: [{ type: 'text', text: 'What is it?' }, image(signed)] },
			],
		]);
	},
	RUN_LIMIT_MS,
);
