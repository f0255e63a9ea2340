import type { Browser } from 'playwright-core';

import { canvasNode, field, foundNode } from '../../lab/browser/editorParts';
import { openEditor, type Editor } from '../../lab/browser/openEditor';
import { startBrowser } from '../../lab/browser/startBrowser';
import {
	addManualTrigger,
	addNode,
	chooseCredential,
	closePanel,
	searchNodes,
} from '../e2e/support/editorSteps';
import { BROWSER_LIMIT_MS, inPage } from '../e2e/support/inPage';
import { SET_UP_LIMIT_MS, showProgress, startSession, type Session } from '../e2e/support/session';
import { FAILURE } from '../support/failureTexts';

let session: Session;
let browser: Browser;

beforeAll(async () => {
	session = await startSession({ videoSeconds: 1 });
	browser = await startBrowser(showProgress);
}, SET_UP_LIMIT_MS);

afterAll(async () => {
	await browser.close();
	await session.stop();
}, BROWSER_LIMIT_MS);

/** Works in the editor. `name` is the file name of the screenshot that is saved if it fails. */
async function inEditor(name: string, work: (editor: Editor) => Promise<void>): Promise<void> {
	await inPage(await openEditor(browser, session.n8n.url), `editor-${name}`, work);
}

/** A node of n8n that follows ours. */
const NEXT = 'No Operation, do nothing';

it(
	'the credential dialog rejects a wrong API key and accepts a valid one',
	async () => {
		await inEditor('credential', async ({ page, goTo, errors }) => {
			await goTo('/home/credentials/create');
			const types = page.getByTestId('new-credential-type-select');
			await types.locator('input').fill('agent video');
			await page.getByTestId('new-credential-type-select-option').first().click();
			await page.getByTestId('new-credential-type-button').click();

			await field(page, 'baseUrl').fill(session.emulator.url);
			await field(page, 'apiKey').fill('not-a-key');
			const dialog = page.getByTestId('credential-edit-dialog');
			// n8n asks its server for the name, and saves nothing without one.
			const name = page.getByTestId('credential-name').getByTestId('inline-edit-preview');
			await name.filter({ hasText: 'Agent Video account' }).waitFor();
			const save = page.getByTestId('credential-save-button');
			await save.click();
			await dialog.getByText('Couldn’t connect with these settings').waitFor();
			await dialog.getByText('More details').click();
			await dialog.getByText(FAILURE.badKey).waitFor();

			await field(page, 'apiKey').fill('demo-key');
			await save.click();
			await page.getByTestId('credentials-config-container-test-success').waitFor();
			expect(await dialog.innerText()).not.toContain('rejected');
			expect(errors).toStrictEqual([]);
		});
	},
	BROWSER_LIMIT_MS,
);

it(
	'a workflow of two nodes is built and executed by hand, and its output contains the video',
	async () => {
		await inEditor('by-hand', async ({ page, goTo, errors }) => {
			await session.client.createCredential({
				name: 'By Hand',
				type: 'agentVideoApi',
				data: { baseUrl: session.emulator.url, apiKey: 'demo-key' },
			});
			await goTo('/workflow/new');
			await addManualTrigger(page);
			await addNode(page, 'Create Video');
			await chooseCredential(page, 'By Hand');
			await page.getByTestId('resource-locator-model').getByTestId('rlc-input').click();
			await page.getByTestId('rlc-search').fill('M3');
			await page.getByTestId('rlc-item').filter({ hasText: 'video-m3: Text, or' }).click();
			await field(page, 'prompt').fill('A lighthouse at dawn');
			await closePanel(page);
			await canvasNode(page, 'Create Video').getByText('video-m3 from text').waitFor();
			await addNode(page, 'Wait for Video');
			await chooseCredential(page, 'By Hand');
			await closePanel(page);
			await canvasNode(page, 'Wait for Video').getByText('wait and download').waitFor();
			// The connection to the next node begins at Completed, without a choice.
			await searchNodes(page, 'No Operation');
			await foundNode(page, NEXT).click();
			await closePanel(page);

			await page.getByTestId('execute-workflow-button').click();
			await page.getByText('Workflow executed successfully').first().waitFor();
			await canvasNode(page, NEXT).getByTestId('canvas-node-status-success').waitFor();
			await canvasNode(page, 'Wait for Video').dblclick();
			const output = page.getByTestId('output-panel');
			await output.getByText('1 finished, after').waitFor();
			await output.getByText('Completed Branch (1 item)').waitFor();
			await output.getByText('video/mp4').waitFor();
			await output.getByTestId('radio-button-json').click();
			await output.getByText('"completed"').first().waitFor();
			expect(session.emulator.tasks.all).toHaveLength(1);
			expect(errors).toStrictEqual([]);
		});
	},
	BROWSER_LIMIT_MS,
);
