// @seconds 25
import { postWebhook } from '../../lab/n8n/postWebhook';
import { chatText, chatUrl, streamChat } from '../../lab/n8n/streamChat';
import { drawn, node } from './support/buildWorkflow';
import { RUN_LIMIT_MS, SET_UP_LIMIT_MS, startSession, type Session } from './support/session';

const PACKAGE = 'n8n-nodes-agent-video';
/** The account that cannot pay, and the one that can. */
const [POOR, PAYING] = ['Without credit', 'With credit'];

let session: Session;
beforeAll(async () => {
	session = await startSession({ videoSeconds: 0.01 });
	const baseUrl = session.emulator.url;
	for (const [name, apiKey] of [
		[POOR, 'demo-key-no-credit'],
		[PAYING, 'demo-key'],
	] as const)
		await session.client.createCredential({
			...{ name, type: 'agentVideoApi' },
			data: { baseUrl, apiKey },
		});
}, SET_UP_LIMIT_MS);
afterAll(async () => {
	await session.stop();
}, RUN_LIMIT_MS);

/** Activates a chat with this node, and returns its URL. */
async function publish(
	responseMode: string,
	[title, type, parameters]: readonly [
		title: string,
		type: string,
		parameters: object,
		...unknown[],
	],
	onError: string,
	credential = POOR,
	isLast = false,
) {
	const { client, n8n } = session;
	const name = `${title} ${onError} ${responseMode}`;
	const webhookId = name.replace(/\W+/g, '-');
	const chat = node('Chat', '@n8n/n8n-nodes-langchain.chatTrigger', 1.3, {
		parameters: { public: true, options: { responseMode } },
		webhookId,
	});
	const video = node('Video', `${PACKAGE}.${type}`, 1, { parameters, credential, onError });
	const next = node('Next', 'n8n-nodes-base.noOp', 1);
	const ref = await client.importWorkflow(
		drawn(name, isLast ? [chat, video] : [chat, video, next], {
			Chat: [['Video']],
			Video: isLast ? [] : [['Next'], ['Next']],
		}),
	);
	await client.activate(ref);
	return chatUrl(n8n.url, webhookId);
}

const PROMPT = { prompt: '={{ $json.chatInput }}' };

/** Nodes that fail, what a chat is told, and the setting On Error. */
const FAILING = [
	[
		'Create Video without a prompt',
		'createVideo',
		{ prompt: '={{ "" }}' },
		/Prompt is empty/,
		'continueRegularOutput',
	],
	[
		'Create Video without credit',
		'createVideo',
		PROMPT,
		/Insufficient credit/,
		'continueRegularOutput',
	],
	[
		'Create Video that waits, without credit',
		'createVideo',
		{ ...PROMPT, waitUntilFinished: true },
		/Insufficient credit/,
		'continueErrorOutput',
	],
	[
		'Wait for Video without a task',
		'waitForVideo',
		{},
		/Task ID is empty/,
		'continueErrorOutput',
	],
	[
		'Wait for Video for a task that does not exist',
		'waitForVideo',
		{ taskId: 'task-none' },
		/0 finished, 1 failed|Unknown task: task-none/,
		'stopWorkflow',
	],
] as const;

it.each(FAILING)(
	'a streaming chat is told why %s has no video',
	async (...failing) => {
		const url = await publish('streaming', failing, failing[4]);
		const lines = await streamChat(url, 'A lake at dawn');
		const failure = lines.find((line) => line.type === 'error')?.content ?? '';
		expect(chatText(lines) + failure).toMatch(failing[3]);
	},
	RUN_LIMIT_MS,
);

it.each(FAILING.filter(([, , , , onError]) => onError !== 'stopWorkflow'))(
	'the answer of the last node has no details of %s',
	async (...failing) => {
		const url = await publish('lastNode', failing, failing[4]);
		const message = { action: 'sendMessage', sessionId: 'v', chatInput: 'A lake at dawn' };
		const { data } = await postWebhook<object>(url, message);
		expect(JSON.stringify(data)).toMatch(failing[3]);
		expect(data).not.toHaveProperty('details');
	},
	RUN_LIMIT_MS,
);

/** Nodes that end a chat, and their answer. */
const LAST = [
	['Create Video', PROMPT, /^The video is not finished: task task-/],
	[
		'Create Video that waits',
		{ ...PROMPT, waitUntilFinished: true },
		/^The video is ready: http.*\.mp4$/,
	],
] as const;

it.each(LAST)(
	'a chat ends with %s: its answer is a line, not the item',
	async (title, parameters, line) => {
		const url = await publish(
			'lastNode',
			[title, 'createVideo', parameters],
			'stopWorkflow',
			PAYING,
		);
		const message = { action: 'sendMessage', sessionId: 'v', chatInput: 'A lake at dawn' };
		const { data } = await postWebhook<{ output?: string }>(url, message);
		expect(data.output).toMatch(line);
	},
	RUN_LIMIT_MS,
);

it.each(LAST)(
	'a streaming chat ends with %s: the visitor reads the same line',
	async (title, parameters, line) => {
		const video = [title, 'createVideo', parameters] as const;
		const url = await publish('streaming', video, 'stopWorkflow', PAYING, true);
		const said = chatText(await streamChat(url, 'A lake at dawn'))
			.trim()
			.split('\n\n');
		expect(said.at(-1)!.replace(/^> /, '')).toMatch(line);
	},
	RUN_LIMIT_MS,
);
