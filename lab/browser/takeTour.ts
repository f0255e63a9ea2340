import { writeFile } from 'node:fs/promises';

import type { INode } from 'n8n-workflow';
import type { Browser, Page } from 'playwright-core';
import { PNG } from 'pngjs';

import type { N8nClient } from '../n8n/N8nClient';
import { canvasNode, field } from './editorParts';
import { encodeGif, type Frame } from './encodeGif';
import { Hand } from './Hand';
import { openEditor } from './openEditor';
import { recordFrames, type Recording } from './recordFrames';

const SIZE = { width: 1100, height: 680 } as const;
const HEADING_MS = 1_600;
const RESULT_MS = 3_000;
const RUN_LIMIT_MS = 120_000;

const OUTPUT = 'outputs/main/0';
const TRIGGER = 'When chat message received';
const AGENT = 'Agent with Tools';
const PROMPTS = ['A lighthouse at dawn', 'A paper boat in the rain', 'A tram at night'];

/** A workflow with three prompts, which the tour continues. */
const BATCH = {
	name: 'Videos from a List',
	nodes: [
		node('Start', 'n8n-nodes-base.manualTrigger', [0, 0]),
		node('Prompts', 'n8n-nodes-base.code', [208, 0], {
			jsCode: `return ${JSON.stringify(PROMPTS)}.map((prompt) => ({ json: { prompt } }));`,
		}),
	],
	connections: { Start: { main: [[{ node: 'Prompts', type: 'main', index: 0 }]] } },
};

/**
 * Draws two workflows in n8n's editor, runs them, and saves what is seen: an animation, and one frame of it.
 *
 * @param url Base URL of n8n. It has a credential for the nodes.
 * @param path Path of the two pictures without extension.
 */
export async function takeTour(
	browser: Browser,
	{ url, client, path }: { url: string; client: N8nClient; path: string },
): Promise<void> {
	const editor = await openEditor(browser, url, { ...SIZE, showLimitMs: 30_000 });
	const { page, goTo } = editor;
	try {
		const recording = await recordFrames(page);
		const hand = await Hand.of(page, recording.onStep);
		await goTo('/workflow/new');
		await page.getByTestId('canvas-add-button').first().waitFor();
		await recording.announce('An agent whose tool is a branch of the workflow', HEADING_MS);
		await drawAgent(hand, page, recording);
		const still = recording.frames.at(-1)!;

		const { id } = await client.importWorkflow(BATCH);
		await goTo(`/workflow/${id}`);
		await canvasNode(page, 'Prompts').waitFor();
		await recording.announce('A video for each row of a list', HEADING_MS);
		await drawBatch(hand, page, recording);

		await writeFile(`${path}.png`, toPng(still));
		await writeFile(`${path}.gif`, encodeGif(recording.frames, SIZE.width, SIZE.height));
	} finally {
		await editor.close();
	}
}

/** A chat, an agent, one tool as a branch that leads back, and a question. */
async function drawAgent(hand: Hand, page: Page, { take }: Recording): Promise<void> {
	await hand.startWith('On chat message');
	await closePanel(hand, page);
	await hand.clickPlus(TRIGGER, OUTPUT);
	await hand.choose('function calling', AGENT, 'Add to workflow');
	await hand.click(page.getByRole('button', { name: 'Add Tool', exact: true }));
	await hand.type(field(page, 'name').first(), 'get_time');
	await hand.type(field(page, 'description').first(), 'Tells the current time');
	await closePanel(hand, page);
	await hand.clickPlus(AGENT, 'outputs/main/2');
	await hand.choose('date', 'Date & Time', 'Get Current Date');
	await closePanel(hand, page);
	await hand.connect(['Date & Time', OUTPUT], [AGENT, 'inputs/main/0']);
	await hand.click(page.getByTestId('workflow-chat-button'));
	await showAll(page);
	await hand.type(page.getByTestId('chat-input'), 'What time is it?');
	await hand.press('Enter');
	await page
		.locator('.chat-message-from-bot')
		.filter({ hasText: /\d:\d\d/ })
		.last()
		.waitFor();
	await settle(page);
	await take(RESULT_MS);
}

/** A video for each prompt, a node that waits for all of them, a run, and its files. */
async function drawBatch(hand: Hand, page: Page, { take }: Recording): Promise<void> {
	await hand.clickPlus('Prompts', OUTPUT);
	await hand.choose('video', 'Create Video', 'Add to workflow');
	await hand.type(field(page, 'prompt'), '{{ $json.prompt }}');
	await closePanel(hand, page);
	await hand.clickPlus('Create Video', OUTPUT);
	await hand.choose('wait video', 'Wait for Video', 'Add to workflow');
	await closePanel(hand, page);
	await hand.click(page.getByTestId('execute-workflow-button'));
	await page
		.getByText('Workflow executed successfully')
		.first()
		.waitFor({ state: 'attached', timeout: RUN_LIMIT_MS });
	await settle(page);
	await take(RESULT_MS / 2);
	await canvasNode(page, 'Wait for Video').dblclick();
	await page.getByTestId('ndv').waitFor();
	await settle(page);
	await take(RESULT_MS / 2);
	const panel = page.getByTestId('ndv');
	await hand.click(panel.getByTestId('ndv-view-binary-data').first());
	await page.waitForTimeout(500);
	await take(RESULT_MS);
}

/** Closes the panel of a node, and brings all nodes into view. */
async function closePanel(hand: Hand, page: Page): Promise<void> {
	await hand.closePanel();
	await showAll(page);
}

/** Brings all nodes into view. The button for that is hidden, see recordFrames. */
async function showAll(page: Page): Promise<void> {
	await page.evaluate(`document.querySelector('[data-test-id="zoom-to-fit"]').click()`);
	await settle(page);
}

/** Waits for n8n's animations. */
async function settle(page: Page): Promise<void> {
	await page.waitForTimeout(1_500);
}

function toPng({ pixels }: Frame): Buffer {
	const png = new PNG(SIZE);
	png.data.set(pixels);
	return PNG.sync.write(png);
}

function node(name: string, type: string, position: [number, number], parameters = {}): INode {
	return {
		...{ id: name.toLowerCase(), name, type, typeVersion: name === 'Start' ? 1 : 2 },
		...{ position, parameters },
	};
}
