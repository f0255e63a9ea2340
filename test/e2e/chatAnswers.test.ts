// @seconds 40
/**
 * What the visitor of a public chat gets: each chat node, in the response modes of n8n's Chat Trigger, in the page and in the
 * raw HTTP answer. The service tells secrets in every other field, which must not arrive.
 */
import type { Browser } from 'playwright-core';

import { startBrowser } from '../../lab/browser/startBrowser';
import { chatUrl } from '../../lab/n8n/streamChat';
import { FAILURE } from '../support/failureTexts';
import { json, startScriptedServer } from '../support/scriptedServer';
import { chatTrigger, drawn, node, withSubNodes } from './support/buildWorkflow';
import { LANGCHAIN, set } from './support/drawAgent';
import { inChat } from './support/inChat';
import { BROWSER_LIMIT_MS } from './support/inPage';
import { call, sendReply } from './support/scriptedModel';
import { SET_UP_LIMIT_MS, showProgress } from './support/session';
import { useSession } from './support/useSession';

const GREETING = 'Welcome.';
const ANSWER = 'The sea is blue.';
const SECRETS = {
	system: 'SECRET-system-message',
	tool: 'SECRET-tool-result',
	session: 'SECRET-session',
	thought: 'SECRET-thought',
};
const CALL = call('c1', 'weather', { city: 'Rome' });

/** The status that the service answers a question with. */
const FAILURES = [
	['wrong key?', 401],
	['bad words?', 409],
] as const;

interface Asked {
	readonly stream?: boolean;
	readonly app_code?: string;
	readonly tools?: unknown;
	readonly messages: readonly { readonly role: string; readonly content: unknown }[];
}

const session = useSession();
let browser: Browser;
let published = 0;

beforeAll(async () => {
	const service = session.keep(
		await startScriptedServer((response, { body }) => {
			const { stream, app_code: app, tools, messages } = body as Asked;
			const asked = JSON.stringify(messages);
			const [, status] = FAILURES.find(([word]) => asked.includes(word)) ?? [];
			if (status !== undefined) {
				json(response, status, {
					error: { message: 'Own words', type: 'invalid_request_error' },
				});
				return;
			}
			const hasResult = messages.some(({ role }) => role === 'tool');
			const isAsking = tools !== undefined && !hasResult;
			const said = isAsking ? { content: null, tool_calls: [CALL] } : { content: ANSWER };
			sendReply(
				response,
				{ stream },
				{ reasoning_content: SECRETS.thought, ...said },
				{
					...(app !== undefined && { ran: { name: 'search', result: SECRETS.tool } }),
					...{ session_id: SECRETS.session, model: 'chat-m1' },
				},
			);
		}),
	);
	browser = await startBrowser(showProgress);
	session.keep({ stop: () => browser.close() });
	await session.credential('Service', service.url);
}, SET_UP_LIMIT_MS);

const PACKAGE = 'n8n-nodes-agent-video';
const TOOL = {
	name: 'weather',
	description: 'Tells the weather',
	define: 'example',
	example: '{ "city": "Rome" }',
};

interface Settings {
	readonly onError?: string;
	readonly options?: object;
}

const OURS = { credential: 'Service' };
const SYSTEM = { systemMessage: SECRETS.system };
/** The nodes that answer, each named Answer. */
const ANSWERERS = {
	'Chat Completion': [`${PACKAGE}.chatCompletion`, 1, SYSTEM, OURS],
	'Super Assistant': [
		`${PACKAGE}.superAssistant`,
		1,
		{ appCode: 'demo-assistant', session: 'new' },
		OURS,
	],
	'Agent with Tools': [
		`${PACKAGE}.functionCallingAgent`,
		1,
		{ ...SYSTEM, tools: { tool: [TOOL] } },
		OURS,
	],
	'AI Agent': [`${LANGCHAIN}.agent`, 3, { options: SYSTEM }, {}],
} as const;

type Answerer = keyof typeof ANSWERERS;

const respond = (responseBody: string) =>
	node('Respond', 'n8n-nodes-base.respondToWebhook', 1.4, {
		parameters: { respondWith: 'json', responseBody },
	});

/** The response modes of the Chat Trigger, and the node after the answer that sends it. */
const MODES = {
	'When Last Node Finishes': ['lastNode', undefined],
	Streaming: ['streaming', undefined],
	'Using Response Nodes': [
		'responseNodes',
		node('Respond', `${LANGCHAIN}.chat`, 1.2, {
			parameters: { message: '={{ $json.output ?? $json.message }}', waitUserReply: false },
		}),
	],
	'Using Respond to Webhook': ['responseNode', respond('={{ JSON.stringify($json) }}')],
} as const;

type Mode = keyof typeof MODES;

/** Activates a public chat, and returns its URL. */
async function publish(
	answerer: Answerer,
	mode: Mode,
	{ options, ...more }: Settings,
): Promise<string> {
	const [responseMode, after] = MODES[mode];
	const webhookId = `answers-${published++}`;
	const [type, version, fixed, credential] = ANSWERERS[answerer];
	const parameters = { ...fixed, ...(options && { options }) };
	const answer = node('Answer', type, version, { parameters, ...credential, ...more });
	const chat = chatTrigger(webhookId, responseMode, { initialMessages: GREETING });
	const tools =
		answerer === 'Agent with Tools'
			? [set('Weather', JSON.stringify({ sky: SECRETS.tool }))]
			: [];
	const ends = ['Answer', ...tools].map(() => (after === undefined ? [] : ['Respond']));
	const flow = drawn(
		`${answerer}, ${mode} ${webhookId}`,
		[chat, answer, ...tools, ...(after === undefined ? [] : [after])],
		{
			Chat: [['Answer']],
			Answer: [...ends, ...tools.map(({ name }) => [name])],
			...Object.fromEntries(tools.map(({ name }) => [name, [['Answer']]])),
		},
	);
	const model = node('Model', `${PACKAGE}.agentVideoChatModel`, 1, { credential: 'Service' });
	await session.publish(
		answerer === 'AI Agent'
			? withSubNodes(flow, 'Answer', [[model, 'ai_languageModel']])
			: flow,
	);
	return chatUrl(session.n8n.url, webhookId);
}

/** What a visitor sees in the page, and what the page got from n8n. */
async function visit(url: string, question: string, expected: string) {
	let seen = '';
	const raw: string[] = [];
	await inChat(browser, { url, name: url.split('/').at(-2)! }, async (chat) => {
		chat.page.on('websocket', (socket) => {
			socket.on('framereceived', ({ payload }) => raw.push(String(payload)));
		});
		const answers: Promise<void>[] = [];
		chat.page.on('response', (response) => {
			if (response.request().method() !== 'POST') return;
			answers.push(response.text().then((text) => void raw.push(text)));
		});
		await chat.ask(question);
		await chat.shows(expected);
		await Promise.all(answers);
		seen = (await chat.text()).replace(GREETING, '').trim();
	});
	return { seen, raw: raw.join('\n') };
}

function expectNoSecret({ seen, raw }: { readonly seen: string; readonly raw: string }): void {
	expect(raw).not.toBe('');
	for (const secret of Object.values(SECRETS)) {
		expect(seen).not.toContain(secret);
		expect(raw).not.toContain(secret);
	}
}

/**
 * The nodes share what an answer is made of: how n8n sends it in each mode shows with one of them. Each mode and each kind of
 * answer has a row.
 */
const EVERYWHERE: readonly (readonly [Answerer, Mode])[] = [
	['Super Assistant', 'Streaming'],
	['Chat Completion', 'Using Response Nodes'],
	['Chat Completion', 'Using Respond to Webhook'],
	['Agent with Tools', 'When Last Node Finishes'],
	['AI Agent', 'When Last Node Finishes'],
];

it.concurrent.each(EVERYWHERE)(
	'%s, %s: the visitor gets the text and nothing else',
	async (answerer, mode) => {
		const url = await publish(answerer, mode, {});
		const got = await visit(url, 'What color is the sea?', ANSWER);
		// A streaming chat shows the tools that run.
		expect(got.seen.replace(/^Running \w+$|^Finished \w+$/gm, '').trim()).toBe(ANSWER);
		expectNoSecret(got);
	},
	BROWSER_LIMIT_MS,
);

const KEY = `${FAILURE.badKey}. Tell the person who set this up.`;
const WORDS = `${FAILURE.moderated}. Rephrase your message.`;
/** n8n's chat shows the whole item of its agent, without the words of the service. */
const AS_ITEM = `{ "error": "${FAILURE.moderated}" }`;
const STOPPED = 'I stopped without an answer: it took too many steps. Ask for less at once';
const CONTINUE = { onError: 'continueRegularOutput' };
const ONE_ROUND = { options: { maxRounds: 1 } };

type FailingRow = readonly [Answerer, Mode, Settings, question: string, expected: string];
/** A row of each text, each mode and each node. */
const FAILING: readonly FailingRow[] = [
	['Chat Completion', 'Streaming', {}, 'wrong key?', KEY],
	['Super Assistant', 'When Last Node Finishes', CONTINUE, 'bad words?', WORDS],
	['AI Agent', 'When Last Node Finishes', CONTINUE, 'bad words?', AS_ITEM],
	['Agent with Tools', 'Streaming', ONE_ROUND, 'Weather?', STOPPED],
];

it.concurrent.each(FAILING)(
	'%s, %s, %j: to "%s" the visitor reads what happened, and what a visitor can do',
	async (answerer, mode, settings, question, expected) => {
		const got = await visit(await publish(answerer, mode, settings), question, expected);
		expect(got.seen.replace(/^Error: /, '').trim()).toBe(expected);
		// The advice for the owner.
		expect(got.seen + got.raw).not.toMatch(/credential|knowledge base/i);
		expect(got.seen + got.raw).not.toContain(SECRETS.session);
		expect(got.seen).not.toContain(SECRETS.system);
	},
	BROWSER_LIMIT_MS,
);
