// @seconds 110
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { Browser, Page } from 'playwright-core';

import { field } from '../../lab/browser/editorParts';
import { Hand } from '../../lab/browser/Hand';
import { openChat } from '../../lab/browser/openChat';
import { openEditor } from '../../lab/browser/openEditor';
import { startBrowser } from '../../lab/browser/startBrowser';
import { EXAMPLE_CREDENTIAL } from '../../lab/n8n/readExample';
import { ROOT } from '../../lab/paths';
import { BROWSER_LIMIT_MS, inPage } from '../e2e/support/inPage';
import { SET_UP_LIMIT_MS, showProgress } from '../e2e/support/session';
import { useSession } from '../e2e/support/useSession';

// n8n chooses a credential by itself where there is no other one.
const session = useSession({ videoSeconds: 1 }, [EXAMPLE_CREDENTIAL]);
let browser: Browser;

beforeAll(async () => {
	browser = await startBrowser(showProgress);
	session.keep({ stop: () => browser.close() });
	await session.client.createDataTable(
		ORDERS,
		['order', 'prompt', 'video', 'error'].map((name) => ({ name, type: 'string' })),
		[
			{ order: 'A1', prompt: 'A kite' },
			{ order: 'A2', prompt: 'A boat, fail-task' },
		],
	);
}, SET_UP_LIMIT_MS);

/** Paid requests that the emulator has received. */
const paidRequests = () => {
	const paths = ['/v1/chat/completions', '/v1/videos/generations'];
	return session.emulator.journal.entries.filter(({ path }) => paths.includes(path));
};

const OUTPUT = 'outputs/main/0';
const INPUT = 'inputs/main/0';
const MODEL = 'inputs/ai_languageModel/0';
const TOOL = 'inputs/ai_tool/0';
const TRIGGER = 'When chat message received';
const CLICK = 'When clicking ‘Execute workflow’';
const CODE = 'Code in JavaScript';
const SCHEDULE = 'Schedule Trigger';
const ROWS = 'Get row(s)';
/** A data table with two orders, of which the second one fails. */
const ORDERS = 'clips_to_make';
/** Milliseconds after which a list without entries is opened again. */
const REOPEN_MS = 10_000;
const QUESTION = 'What time is it? And greet Ann.';

/** An entry of the list that is open. */
const choice = (page: Page, text: string) =>
	page.locator('li:visible').filter({ hasText: text }).first();

/** The first step: a chat that streams. */
async function streamingTrigger(hand: Hand, page: Page): Promise<void> {
	await hand.startWith('On chat message');
	await hand.click(page.getByPlaceholder('Add Field'));
	await hand.click(choice(page, 'Response Mode'));
	await hand.click(page.getByTestId('parameter-input-responseMode'));
	await hand.click(choice(page, 'Streaming'));
	await hand.closePanel();
}

/** Sends a message in the editor's chat. */
async function chat(hand: Hand, page: Page, text: string): Promise<void> {
	const message = page.getByTestId('chat-input');
	if (!(await message.isVisible())) await hand.click(page.getByTestId('workflow-chat-button'));
	await hand.type(message, text);
	expect(paidRequests()).toStrictEqual([]);
	await page.keyboard.press('Enter');
}

async function chatTrigger(hand: Hand): Promise<void> {
	await hand.startWith('On chat message');
	await hand.closePanel();
}

/** Adds a node of this package after another one. Its panel is open. */
async function add(
	hand: Hand,
	page: Page,
	after: string,
	...found: [text: string, name: string]
): Promise<void> {
	await hand.clickPlus(after, OUTPUT);
	await hand.choose(...found, 'Add to workflow');
	await hasCredential(page);
}

/** n8n chooses the only credential a moment after the panel has opened. A list that is opened before loads forever. */
async function hasCredential(page: Page): Promise<void> {
	await page.getByTestId('credential-edit-button').waitFor();
}

async function publish(hand: Hand, page: Page): Promise<void> {
	await hand.click(page.getByTestId('workflow-open-publish-modal-button'));
	const publishButton = page
		.getByRole('dialog')
		.getByRole('button', { name: 'Publish', exact: true });
	await hand.click(publishButton);
	// Another dialog, that it is published, may take the place of the first one at once.
	await publishButton.waitFor({ state: 'hidden' });
}

/** Chooses the data table with the orders. */
async function chooseOrders(hand: Hand, page: Page): Promise<void> {
	const list = page.getByTestId('parameter-input-dataTableId').locator('input').last();
	const orders = page.getByTestId('rlc-item').filter({ hasText: ORDERS });
	await hand.click(list);
	// A list that is opened before n8n has completed the node's parameters loads forever; opened again it has entries.
	await orders.waitFor({ timeout: REOPEN_MS }).catch(async () => {
		await page.keyboard.press('Escape');
		await list.blur();
		await list.focus();
	});
	await hand.click(orders);
}

/** After an output: writes a value into the row of the order. */
async function updateOrder(
	hand: Hand,
	page: Page,
	after: readonly [node: string, output: string],
	...[column, value]: [column: string, value: string]
): Promise<void> {
	await page.keyboard.press('1');
	await hand.clickPlus(...after);
	await hand.choose('data table', 'Data table', 'Update row(s)');
	await chooseOrders(hand, page);
	// Its column is the ID of the row.
	await hand.click(page.getByRole('button', { name: 'Add Condition', exact: true }));
	await hand.type(field(page, 'keyValue'), `{{ $('${ROWS}').item.json.id }}`);
	await hand.type(field(page, column), value);
	await hand.closePanel();
}

/** The last reply in the editor's chat. */
const reply = (page: Page) => page.locator('.chat-message-from-bot').last();

/** Builds each workflow and runs it, and fails without the result, by its row in bench/clicks.md. */
const DRAWINGS: Readonly<Record<string, (hand: Hand, page: Page) => Promise<void>>> = {
	'A chat that streams its answers': async (hand, page) => {
		await streamingTrigger(hand, page);
		await add(hand, page, TRIGGER, 'chatbot', 'Chat Completion');
		await hand.closePanel();
		await chat(hand, page, 'Hello');
		await reply(page).getByText('Hello! What would you like').waitFor();
		expect(paidRequests()).toMatchObject([{ body: { stream: true } }]);
	},
	'A chat that remembers': async (hand, page) => {
		await streamingTrigger(hand, page);
		await add(hand, page, TRIGGER, 'chatbot', 'Chat Completion');
		await hand.click(page.getByTestId('parameter-input-memory'));
		await hand.click(choice(page, 'This Chat'));
		await hand.closePanel();
		await chat(hand, page, 'My name is Ada.');
		await reply(page).getByText('Noted').waitFor();
		session.emulator.journal.clear();
		await chat(hand, page, 'What is my name?');
		await reply(page).getByText('Your name is Ada.').waitFor();
	},
	'An agent with two tool nodes': async (hand, page) => {
		await chatTrigger(hand);
		await add(hand, page, TRIGGER, 'function calling', 'Agent with Tools');
		await hand.closePanel();
		await hand.clickPlus('Agent with Tools', TOOL);
		await hand.choose('date', 'Date & Time Tool');
		await hand.closePanel();
		await hand.clickPlus('Agent with Tools', TOOL);
		await hand.choose('code', 'Code Tool');
		await hand.type(field(page, 'description'), 'Greets a person');
		await hand.type(page.locator('.cm-content'), "return 'Hello ' + query;");
		await hand.closePanel();
		await chat(hand, page, QUESTION);
		await reply(page).getByText('Hello Ann').waitFor();
	},
	'An agent whose two tools are branches': async (hand, page) => {
		await chatTrigger(hand);
		await add(hand, page, TRIGGER, 'function calling', 'Agent with Tools');
		const button = (name: string) =>
			page.getByRole('button', { name: `Add ${name}`, exact: true });
		const entry = (name: string, index: number) => field(page, name).nth(index);
		await hand.click(button('Tool'));
		await hand.type(entry('name', 0), 'get_time');
		await hand.type(entry('description', 0), 'Tells the current time');
		await hand.click(button('Tool'));
		await hand.type(entry('name', 1), 'greet_person');
		await hand.type(entry('description', 1), 'Greets a person');
		await hand.click(button('Parameter').nth(1));
		await hand.type(entry('name', 2), 'person');
		await hand.closePanel();

		const input = ['Agent with Tools', INPUT] as const;
		await hand.clickPlus('Agent with Tools', 'outputs/main/2');
		await hand.choose('date', 'Date & Time', 'Get Current Date');
		await hand.closePanel();
		await hand.connect(['Date & Time', OUTPUT], input);
		await hand.clickPlus('Agent with Tools', 'outputs/main/3');
		await hand.choose('code', 'Code', CODE);
		await hand.type(
			page.locator('.cm-content'),
			"return [{ json: { greeting: 'Hello ' + $json.person } }];",
		);
		await hand.closePanel();
		await hand.connect([CODE, OUTPUT], input);
		await chat(hand, page, QUESTION);
		await reply(page).getByText('Hello Ann').waitFor();
	},
	'A video as a file': async (hand, page) => {
		await hand.startWith('Trigger manually');
		await add(hand, page, CLICK, 'video', 'Create Video');
		await hand.type(field(page, 'prompt'), 'A lighthouse at dawn');
		await hand.click(page.getByTestId('parameter-input-waitUntilFinished'));
		expect(paidRequests()).toStrictEqual([]);
		await hand.click(page.getByTestId('node-execute-button'));
		const output = page.getByTestId('output-panel');
		await output.getByText('video/mp4').waitFor();
		expect(paidRequests()).toHaveLength(1);
	},
	'Videos of a list of prompts, as files': async (hand, page) => {
		await hand.startWith('Trigger manually');
		await hand.clickPlus(CLICK, OUTPUT);
		await hand.choose('code', 'Code', CODE);
		await hand.type(
			page.locator('.cm-content'),
			"return [{ json: { prompt: 'A kite' } }, { json: { prompt: 'A boat' } }];",
		);
		await hand.closePanel();
		await add(hand, page, CODE, 'video', 'Create Video');
		await hand.type(field(page, 'prompt'), '{{ $json.prompt }}');
		await hand.closePanel();
		await add(hand, page, 'Create Video', 'wait video', 'Wait for Video');
		await hand.closePanel();
		expect(paidRequests()).toStrictEqual([]);
		await hand.click(page.getByTestId('execute-workflow-button'));
		const done = page.getByText('Workflow executed successfully').first();
		await done.waitFor({ state: 'attached' });
		expect(paidRequests()).toHaveLength(2);
	},
	'A nightly batch from a data table, with keys and failures': async (hand, page) => {
		await hand.startWith('On a schedule');
		await hand.closePanel();
		await hand.clickPlus(SCHEDULE, OUTPUT);
		await hand.choose('data table', 'Data table', ROWS);
		await chooseOrders(hand, page);
		await hand.closePanel();
		await add(hand, page, ROWS, 'video', 'Create Video');
		await hand.type(field(page, 'prompt'), '{{ $json.prompt }}');
		await hand.click(page.getByPlaceholder('Add option'));
		await hand.click(choice(page, 'Idempotency Key'));
		const key = page.getByTestId('parameter-input-idempotencyKey');
		await hand.type(key.locator('.cm-content'), '{{ $json.order }}');
		await page.getByText('[Execute previous nodes for preview]').waitFor();
		await hand.closePanel();
		await page.keyboard.press('1');
		await add(hand, page, 'Create Video', 'wait video', 'Wait for Video');
		await hand.closePanel();
		const wait = 'Wait for Video';
		await updateOrder(hand, page, [wait, OUTPUT], 'video', '{{ $json.video_url }}');
		const failed = [wait, 'outputs/main/1'] as const;
		await updateOrder(hand, page, failed, 'error', '{{ $json.error_message }}');
		expect(paidRequests()).toStrictEqual([]);
		await hand.click(page.getByTestId('execute-workflow-button'));
		const done = page.getByText('Workflow executed successfully').first();
		await done.waitFor({ state: 'attached' });
		expect(paidRequests()).toHaveLength(2);
		// The key of each row, by which a second night creates no video again.
		const ledger = await session.client.dataTableRows('agent_video_tasks');
		expect(ledger?.map((row) => row['idempotency_key'])).toEqual(
			expect.arrayContaining(['A1', 'A2']),
		);
		const rows = await session.client.dataTableRows(ORDERS);
		expect(rows).toMatchObject([
			{ order: 'A1', video: expect.stringMatching(/^http.*mp4/) as string, error: null },
			{ order: 'A2', video: null, error: expect.stringMatching(/\w/) as string },
		]);
		await publish(hand, page);
	},
	'A public chat that remembers each visitor': async (hand, page) => {
		await hand.startWith('On chat message');
		await hand.click(page.getByTestId('parameter-input-public'));
		const address = await page.getByText(/\/webhook\/.*\/chat$/).innerText();
		await hand.closePanel();
		await add(hand, page, TRIGGER, 'super assistant', 'Super Assistant');
		await hand.type(field(page, 'appCode'), 'demo-assistant');
		await hand.closePanel();
		expect(paidRequests()).toStrictEqual([]);
		await publish(hand, page);
		const visitor = await openChat(browser, address);
		await inPage(visitor, 'by-hand-visitor', async () => {
			await visitor.ask('My name is Ada.');
			await visitor.shows('Noted');
			await visitor.ask('What is my name?');
			await visitor.shows('Your name is Ada.');
		});
	},
	'An AI Agent that creates the video that you ask for': async (hand, page) => {
		await chatTrigger(hand);
		await hand.clickPlus(TRIGGER, OUTPUT);
		await hand.choose('ai agent', 'AI Agent');
		await hand.closePanel();
		await hand.clickPlus('AI Agent', MODEL);
		await hand.choose('agent video', 'Agent Video Chat Model', 'Add to workflow');
		await hasCredential(page);
		await hand.closePanel();
		await hand.clickPlus('AI Agent', TOOL);
		await hand.choose('video', 'Create Video Tool');
		await hasCredential(page);
		await hand.closePanel();
		await chat(hand, page, 'Make a video of a lighthouse at dawn');
		await reply(page).getByRole('link', { name: 'the video' }).waitFor();
		expect(paidRequests().map(({ path }) => path)).toStrictEqual([
			'/v1/chat/completions',
			'/v1/videos/generations',
			'/v1/chat/completions',
		]);
	},
};

it.each(Object.entries(DRAWINGS))(
	'%s is built by hand with the clicks in bench/clicks.md',
	async (row, build) => {
		// A published one runs every night, in the timezone of n8n.
		const { client } = session;
		for (const { id } of await client.workflows()) await client.archive(id);
		const file = `by-hand-${row.replace(/\W+/g, '-')}`;
		await inPage(await openEditor(browser, session.n8n.url), file, async (editor) => {
			const { page, goTo, errors } = editor;
			const hand = await Hand.of(page);
			await goTo('/workflow/new');
			await build(hand, page);
			expect(errors).toStrictEqual([]);
			const table = await readFile(join(ROOT, 'bench/clicks.md'), 'utf8');
			const line = table.split('\n').find((each) => each.startsWith(`| ${row} `));
			expect(await hand.clicks()).toBe(Number(line?.split('|')[2]));
		});
	},
	BROWSER_LIMIT_MS,
);
