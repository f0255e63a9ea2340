// @seconds 40
import type { Browser, Page } from 'playwright-core';

import { canvasNode, field } from '../../lab/browser/editorParts';
import { openEditor } from '../../lab/browser/openEditor';
import { startBrowser } from '../../lab/browser/startBrowser';
import { json, startScriptedServer, type ScriptedServer } from '../support/scriptedServer';
import {
	addManualTrigger,
	addNode,
	chooseCredential,
	closePanel,
} from '../e2e/support/editorSteps';
import { BROWSER_LIMIT_MS, inPage } from '../e2e/support/inPage';
import { SET_UP_LIMIT_MS, showProgress, startSession, type Session } from '../e2e/support/session';

let session: Session;
let service: ScriptedServer;
let browser: Browser;
let created = 0;

beforeAll(async () => {
	session = await startSession({ videoSeconds: 1 });
	// A service with codes of its own, as a real account has.
	service = await startScriptedServer((response, { path, body }) => {
		const { model } = body as { readonly model?: string };
		const task_id = `task-${++created}`;
		if (path === '/v1/videos/generations')
			json(response, 200, { task_id, status: 'queued', model, created_at: null });
		else json(response, 404, { error: { message: 'no task', type: 'invalid' } });
	});
	browser = await startBrowser(showProgress);
}, SET_UP_LIMIT_MS);

afterAll(async () => {
	await browser.close();
	await service.stop();
	await session.stop();
}, BROWSER_LIMIT_MS);

const rows = (page: Page, list: string) => page.getByTestId(`fixed-collection-${list}`);

/** Chooses an entry of a closed list of fixed values. */
async function choose(page: Page, name: string, text: string): Promise<void> {
	await page.getByTestId(`parameter-input-${name}`).last().click();
	await page.getByRole('option').filter({ hasText: text }).last().click();
}

it(
	'model codes are entered in the credential and chosen in the nodes',
	async () => {
		const opened = await openEditor(browser, session.n8n.url);
		await inPage(opened, 'model-codes', async ({ page, goTo, errors }) => {
			const name = 'Own Codes';
			await session.client.createCredential({
				name,
				type: 'agentVideoApi',
				data: { baseUrl: service.url, apiKey: 'k-secret' },
			});
			const dialog = page.getByTestId('credential-edit-dialog');
			const open = async () => {
				await goTo('/home/credentials');
				await page.getByText(name, { exact: true }).first().click();
				await dialog.waitFor();
			};
			const save = async () => {
				const saved = page.waitForResponse(
					(response) => response.request().method() === 'PATCH' && response.ok(),
				);
				await page.getByTestId('credential-save-button').click();
				await saved;
			};
			await open();
			await page.getByText('Add Chat Model').click();
			await rows(page, 'chatModels').locator('input').nth(0).fill('acme-chat');
			await rows(page, 'chatModels').locator('input').nth(1).fill('Acme Chat');
			await page.getByText('Add Video Model').click();
			await field(page, 'code').last().fill('acme-pro');
			await choose(page, 'like', 'video-m5');
			await save();

			// Opened again, the rows are there, and another one is added.
			await open();
			await page.getByText('Add Video Model').click();
			expect(await field(page, 'code').nth(1).inputValue()).toBe('acme-pro');
			await field(page, 'code').last().fill('acme-lite');
			await save();

			await goTo('/workflow/new');
			await addManualTrigger(page);
			await addNode(page, 'Create Video');
			await chooseCredential(page, name);
			await page.getByTestId('resource-locator-model').getByTestId('rlc-input').click();
			const items = page.getByTestId('rlc-item');
			await items.filter({ hasText: 'acme-lite' }).waitFor();
			expect(await items.allInnerTexts()).toStrictEqual([
				// The chosen one comes first: the default of a new node.
				expect.stringMatching(/^video-m1: /),
				expect.stringMatching(/^acme-pro: Text, images, or a video to edit/),
				expect.stringMatching(/^acme-lite: Text, images, videos and audio together/),
			]);
			await items.filter({ hasText: 'acme-pro' }).click();
			// The fields of video-m5: a quality mode, and no size.
			await choose(page, 'qualityMode', 'Pro (1080P)');
			expect(await page.getByTestId('parameter-input-size').count()).toBe(0);
			expect(await page.getByTestId('parameter-input-qualityMode').count()).toBe(1);
			await choose(page, 'aspectRatio', '3:4');
			await field(page, 'prompt').fill('A lighthouse at dawn');
			await closePanel(page);
			await canvasNode(page, 'Create Video').getByText('acme-pro from text').waitFor();
			await page.getByTestId('execute-workflow-button').click();
			await page.getByText('Workflow executed successfully').first().waitFor();
			const [request] = service.requests
				.splice(0)
				.filter(({ path }) => path === '/v1/videos/generations');
			expect(request!.body).toStrictEqual({
				prompt: 'A lighthouse at dawn',
				model: 'acme-pro',
				aspect_ratio: '3:4',
				duration: 5,
				mode: 'pro',
				generate_audio: true,
				watermark: false,
			});

			await addNode(page, 'Chat Completion');
			await chooseCredential(page, name);
			await page.getByTestId('resource-locator-model').getByTestId('rlc-input').click();
			await items.filter({ hasText: 'Acme Chat' }).waitFor();
			expect(await items.allInnerTexts()).toStrictEqual(['Default Model', 'Acme Chat']);
			expect(errors).toStrictEqual([]);
		});
	},
	BROWSER_LIMIT_MS,
);
