import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { Locator, Page } from 'playwright-core';

import { startEmulator } from '../../emulator/startEmulator';
import { buildPackage } from '../n8n/buildPackage';
import { installLab } from '../n8n/installLab';
import { N8nClient, type WorkflowRef } from '../n8n/N8nClient';
import { panelLabels } from './editorParts';
import { openEditor, type Editor } from './openEditor';
import { checkNames } from './checkNames';
import { ROOT } from '../paths';
import { PICTURED_FIELDS, SUBJECTS, type PicturedFields, type Subject } from './pictureSubjects';
import {
	BEARER_CREDENTIAL,
	EXAMPLE_CREDENTIAL,
	exampleFiles,
	readExample,
	readExampleFile,
	SMTP_CREDENTIAL,
} from '../n8n/readExample';
import { Running } from '../services/Running';
import { startBrowser } from './startBrowser';
import { startN8n } from '../n8n/startN8n';
import { step } from '../services/step';
import { takeTour } from './takeTour';

const FOLDER = join(ROOT, 'docs', 'pictures');
const WIDTH = 1440;
/** Window for a canvas: so large that n8n shows every example in its full size. */
const CANVAS_WINDOW = { width: 2600, height: 2000 } as const;
/** Margin around the nodes of a canvas, in pixels: room for the labels below nodes outside a note. */
const MARGIN = 48;
const RUN_LIMIT_MS = 180_000;
/** Duration of the animations in the editor, in milliseconds. */
const SETTLE_MS = 1_500;

/** Elements that cover the picture: notifications and the buttons of the canvas. */
const HIDDEN = [
	'.el-notification',
	'[data-test-id="canvas-controls"]',
	'[class*="executionButtons"]',
	'[class*="executionButtons"] *',
] as const;

/** Evaluates to the height of what a form has below the edge of its panel, in pixels. */
const HIDDEN_HEIGHT =
	"(({ scrollHeight, clientHeight }) => scrollHeight - clientHeight)(document.querySelector('.node-parameters-wrapper'))";

const running = new Running();

async function takePictures(wanted: readonly string[]): Promise<void> {
	checkNames(wanted, await pictureNames());
	await step('Prepare n8n', (showProgress) => installLab({ onProgress: showProgress }));
	await step('Build the package', buildPackage);
	const emulator = running.keep(await startEmulator({ videoSeconds: 4 }));
	const n8n = await step('Start n8n', async () => running.keep(await startN8n()));
	const client = await N8nClient.signIn(n8n.url);
	await client.createCredential({
		name: EXAMPLE_CREDENTIAL,
		type: 'agentVideoApi',
		data: { baseUrl: emulator.url, apiKey: 'demo-key' },
	});
	// Without them the nodes that send mail or serve a client would be marked as incomplete. No picture uses them.
	await client.createCredential({
		name: BEARER_CREDENTIAL,
		type: 'httpBearerAuth',
		data: { token: 'demo-token' },
	});
	await client.createCredential({
		name: SMTP_CREDENTIAL,
		type: 'smtp',
		data: { host: 'localhost', port: 465, user: 'demo', password: 'demo' },
	});
	const browser = await startBrowser();
	running.keep({ stop: () => browser.close() });
	const editor = await openEditor(browser, n8n.url, { width: WIDTH });

	for (const subject of SUBJECTS.filter(({ name }) => isWanted(name, wanted))) {
		await step(`Picture of ${subject.name}`, async () => {
			await runInEditor(editor, await client.importWorkflow(subject.workflow));
			await takePanel(editor.page, subject);
		});
	}
	for (const file of await exampleFiles()) {
		const name = file.replace('.json', '');
		if (!isWanted(name, wanted)) continue;
		await step(`Picture of ${name}`, async () => {
			const { id } = await client.importWorkflow(await readExampleFile(file));
			await editor.page.setViewportSize(CANVAS_WINDOW);
			await editor.goTo(`/workflow/${id}`);
			await editor.page.getByTestId('canvas-node').first().waitFor();
			await takeCanvas(editor.page, name);
		});
	}
	if (isWanted('canvas', wanted)) {
		await step('Picture of a canvas that has run', async () => {
			await runInEditor(editor, await client.importWorkflow(await readExample('batch')));
			await takeCanvas(editor.page, 'canvas');
		});
	}
	if (isWanted('tour', wanted)) {
		await step('Animated tour', () =>
			takeTour(browser, { url: n8n.url, client, path: join(FOLDER, 'tour') }),
		);
	}
}

/** The names of all pictures. */
async function pictureNames(): Promise<readonly string[]> {
	const examples = (await exampleFiles()).map((file) => file.replace('.json', ''));
	return [...SUBJECTS.map(({ name }) => name), ...examples, 'canvas', 'tour'];
}

function isWanted(name: string, wanted: readonly string[]): boolean {
	return wanted.length === 0 || wanted.includes(name);
}

async function runInEditor({ page, goTo }: Editor, { id }: WorkflowRef): Promise<void> {
	await page.setViewportSize(CANVAS_WINDOW);
	await goTo(`/workflow/${id}`);
	await page.getByTestId('execute-workflow-button').click();
	await page
		.getByText('Workflow executed successfully')
		.first()
		.waitFor({ timeout: RUN_LIMIT_MS });
}

async function takePanel(page: Page, { name, node, height, view }: Subject): Promise<void> {
	await page.setViewportSize({ width: WIDTH, height });
	await page.locator(`[data-test-id="canvas-node"][data-node-name="${node}"]`).dblclick();
	const panel = page.getByTestId('ndv');
	await panel.waitFor();
	if (view !== undefined) {
		await page
			.getByTestId('output-panel')
			.getByTestId(`radio-button-${view.toLowerCase()}`)
			.click();
	}
	await page.waitForTimeout(SETTLE_MS);
	await rememberFields(name, await panelLabels(page));
	await page.setViewportSize({
		width: WIDTH,
		height: height + (await page.evaluate<number>(HIDDEN_HEIGHT)),
	});
	await inBothThemes(page, name, async (path) => {
		await panel.screenshot({ path });
	});
}

/** Writes down which fields a picture shows: a test compares them with the form. */
async function rememberFields(name: string, labels: readonly string[]): Promise<void> {
	const all = JSON.parse(await readFile(PICTURED_FIELDS, 'utf8')) as PicturedFields;
	await writeFile(PICTURED_FIELDS, `${JSON.stringify({ ...all, [name]: labels }, null, 2)}\n`);
}

async function takeCanvas(page: Page, name: string): Promise<void> {
	await page.getByTestId('zoom-to-fit').click();
	await page.waitForTimeout(SETTLE_MS);
	const zoom = await page.evaluate<number>(
		"new DOMMatrix(getComputedStyle(document.querySelector('.vue-flow__transformationpane')).transform).a",
	);
	if (zoom !== 1) throw new Error(`The text of ${name} would be too small: zoom ${zoom}`);
	const clip = await boundingBox(page.locator('.vue-flow__node'));
	await inBothThemes(page, name, async (path) => {
		await page.screenshot({ path, clip });
	});
}

/** The bounding box of all elements, with a margin. */
async function boundingBox(elements: Locator) {
	const boxes = (
		await Promise.all((await elements.all()).map((each) => each.boundingBox()))
	).flatMap((box) => box ?? []);
	const left = Math.min(...boxes.map(({ x }) => x)) - MARGIN;
	const top = Math.min(...boxes.map(({ y }) => y)) - MARGIN;
	const right = Math.max(...boxes.map(({ x, width }) => x + width)) + MARGIN;
	const bottom = Math.max(...boxes.map(({ y, height }) => y + height)) + MARGIN;
	return { x: left, y: top, width: right - left, height: bottom - top };
}

async function inBothThemes(
	page: Page,
	name: string,
	take: (path: string) => Promise<void>,
): Promise<void> {
	await page.addStyleTag({ content: `${HIDDEN.join(', ')} { visibility: hidden; }` });
	for (const [colorScheme, ending] of [
		['dark', '.dark.png'],
		['light', '.png'],
	] as const) {
		await page.emulateMedia({ colorScheme });
		await page.mouse.move(0, 0);
		await page.waitForTimeout(SETTLE_MS);
		await take(join(FOLDER, `${name}${ending}`));
	}
}

async function main(): Promise<void> {
	process.on('SIGINT', () => {
		void running.stop().finally(() => process.exit(130));
	});
	try {
		await takePictures(process.argv.slice(2));
	} catch (error) {
		console.error(`\nTaking the pictures failed: ${(error as Error).message}`);
		process.exitCode = 1;
	} finally {
		await running.stop();
	}
}

void main();
