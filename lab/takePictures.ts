import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';

import type { Browser } from 'playwright-core';

import { startEmulator } from '../emulator/startEmulator';
import { buildPackage } from './buildPackage';
import { installLab } from './installLab';
import { N8nClient } from './N8nClient';
import { openCanvas, type Canvas, type Theme } from './openCanvas';
import { ROOT } from './paths';
import { EXAMPLE_CREDENTIAL, exampleFiles, readExampleFile } from './readExample';
import { Running } from './Running';
import { startBrowser } from './startBrowser';
import { startN8n } from './startN8n';
import { step } from './step';

const FOLDER = join(ROOT, 'docs', 'pictures');
const VIEW = { width: 1280, height: 800 };
/** What stands around the canvas, in pixels. */
const FRAME = { left: 42, top: 64, bottom: 36 };
const ENDINGS: Readonly<Record<Theme, string>> = { light: '', dark: '.dark' };

/** Takes a picture of every example on n8n's canvas, light and dark, into docs/pictures/. */
async function takePictures(running: Running): Promise<void> {
	await step('Prepare n8n', (say) => installLab({ onProgress: say }));
	await step('Build the package', buildPackage);
	const emulator = running.keep(await startEmulator());
	const n8n = await step('Start n8n', async () => running.keep(await startN8n()));
	const client = await N8nClient.signIn(n8n.url);
	await client.createCredential({
		name: EXAMPLE_CREDENTIAL,
		type: 'agentVideoApi',
		data: { baseUrl: emulator.url, apiKey: 'demo-key' },
	});
	const ids = new Map<string, string>();
	for (const file of await exampleFiles()) {
		const { id } = await client.importWorkflow(await readExampleFile(file));
		ids.set(file.replace('.json', ''), id);
	}
	const browser = await startBrowser();
	running.keep({ stop: () => browser.close() });
	await mkdir(FOLDER, { recursive: true });
	for (const theme of ['light', 'dark'] as const) {
		await step(`Take the ${theme} pictures`, (say) =>
			inTheme(browser, n8n.url, theme, ids, say),
		);
	}
}

async function inTheme(
	browser: Browser,
	url: string,
	theme: Theme,
	ids: ReadonlyMap<string, string>,
	say: (text: string) => void,
): Promise<void> {
	const canvas = await openCanvas(browser, { url, theme, ...VIEW });
	for (const [name, id] of ids) {
		say(name);
		await canvas.show(id);
		await hideControls(canvas);
		await canvas.page.screenshot({
			path: join(FOLDER, `${name}${ENDINGS[theme]}.png`),
			clip: {
				x: FRAME.left,
				y: FRAME.top,
				width: VIEW.width - FRAME.left,
				height: VIEW.height - FRAME.top - FRAME.bottom,
			},
		});
	}
	await canvas.close();
}

/** Leaves the canvas alone in the picture. */
async function hideControls({ page }: Canvas): Promise<void> {
	await page.addStyleTag({
		content:
			'body * { visibility: hidden } .vue-flow, .vue-flow *:not(.vue-flow__panel *) { visibility: visible }',
	});
}

async function main(): Promise<void> {
	const running = new Running();
	try {
		await takePictures(running);
	} finally {
		await running.stop();
	}
}

void main().catch((error: unknown) => {
	console.error(error);
	process.exitCode = 1;
});
