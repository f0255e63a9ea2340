import type { Browser } from 'playwright-core';

import { canvasNode } from '../../lab/browser/editorParts';
import { openEditor } from '../../lab/browser/openEditor';
import { startBrowser } from '../../lab/browser/startBrowser';
import { drawn, node } from '../e2e/support/buildWorkflow';
import { BROWSER_LIMIT_MS, inPage } from '../e2e/support/inPage';
import { SET_UP_LIMIT_MS, showProgress, startSession, type Session } from '../e2e/support/session';

let session: Session;
let browser: Browser;

beforeAll(async () => {
	// The video is never finished: the clock stands still.
	session = await startSession({ clock: 'virtual', videoSeconds: 60 });
	browser = await startBrowser(showProgress);
}, SET_UP_LIMIT_MS);

afterAll(async () => {
	await browser.close();
	await session.stop();
}, BROWSER_LIMIT_MS);

const CREDENTIAL = 'Waiting';
const ours = (name: string, type: string, parameters: object) =>
	node(name, `n8n-nodes-agent-video.${type}`, 1, { credential: CREDENTIAL, parameters });

const WORKFLOW = drawn(
	'Waiting',
	[
		node('Start', 'n8n-nodes-base.manualTrigger', 1),
		ours('Create Video', 'createVideo', { prompt: 'A lake' }),
		ours('Wait for Video', 'waitForVideo', { waitMode: 'suspend' }),
		node('Next', 'n8n-nodes-base.noOp', 1),
	],
	{
		Start: [['Create Video']],
		'Create Video': [['Wait for Video']],
		'Wait for Video': [['Next']],
	},
);

it(
	'a suspended step shows in its panel that it waits, with the progress as a hint',
	async () => {
		const opened = await openEditor(browser, session.n8n.url);
		await inPage(opened, 'waiting-editor', async ({ page, goTo, errors }) => {
			const { client, emulator } = session;
			await client.createCredential({
				name: CREDENTIAL,
				type: 'agentVideoApi',
				data: { baseUrl: emulator.url, apiKey: 'demo-key' },
			});
			const ref = await client.importWorkflow(WORKFLOW);
			await goTo(`/workflow/${ref.id}`);
			await page.getByTestId('execute-workflow-button').click();
			await canvasNode(page, 'Wait for Video').dblclick();
			const output = page.getByTestId('output-panel');
			await output.getByText('The videos are still generating. This node polls').waitFor();
			await output.getByText(/^0 finished, 1 generating, after .*, next poll in/).waitFor();
			expect(errors).toStrictEqual([]);
		});
	},
	BROWSER_LIMIT_MS,
);
