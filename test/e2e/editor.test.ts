// @seconds 80
import type { Browser } from 'playwright-core';

import { canvasNode, field, foundNode } from '../../lab/browser/editorParts';
import { openEditor, type Editor } from '../../lab/browser/openEditor';
import { startBrowser } from '../../lab/browser/startBrowser';
import { set } from './support/drawAgent';
import { drawn, node } from './support/buildWorkflow';
import {
	addManualTrigger,
	addNode,
	chooseCredential,
	closePanel,
	searchNodes,
} from './support/editorSteps';
import { BROWSER_LIMIT_MS, inPage } from './support/inPage';
import { SET_UP_LIMIT_MS, showProgress, startSession, type Session } from './support/session';
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

/** Search texts whose first result is the node below that has them. */
const FIRST: readonly string[] = [
	...['text to video', 'image to video', 'generate video', 'make a video'],
	...['chatbot', 'streaming', 'structured output', 'function calling'],
];
/** Search texts by the node that is their first or second result. */
const SEARCHES: Readonly<Record<string, readonly string[]>> = {
	'Create Video': [
		...['text to video', 'image to video', 'generate video', 'make a video'],
		...['ai video', 'animate', 'clip', 'commercial'],
	],
	'Wait for Video': ['download video', 'video status', 'poll'],
	'Chat Completion': ['chatbot', 'gpt', 'rag', 'extract data', 'streaming', 'structured output'],
	'Agent with Tools': ['function calling', 'tools'],
	'Super Assistant': ['memory', 'session'],
	'Agent Video Chat Model': ['language model'],
};
/** Search texts that name nodes of n8n as well: ours is found. */
const SHARED_SEARCHES = {
	...{ video: 'Create Video', ai: 'Chat Completion', agent: 'Agent with Tools' },
	...{ assistant: 'Super Assistant', 'chat model': 'Agent Video Chat Model' },
};

it(
	'every node is found by common search texts and shown as installed',
	async () => {
		await inEditor('search', async ({ page, goTo, errors }) => {
			await goTo('/workflow/new');
			await addManualTrigger(page);
			for (const [text, name] of Object.entries(SHARED_SEARCHES)) {
				await searchNodes(page, text);
				await foundNode(page, name).waitFor();
			}
			const places: object[] = [];
			for (const [name, texts] of Object.entries(SEARCHES)) {
				for (const text of texts) {
					await searchNodes(page, text);
					await foundNode(page, name).waitFor();
					const found = page.getByTestId('node-creator-item-name');
					const place = (await found.allInnerTexts()).indexOf(name);
					if (place > (FIRST.includes(text) ? 0 : 1)) places.push({ text, name, place });
				}
			}
			expect(places).toEqual([]);
			await searchNodes(page, 'text to video');
			await foundNode(page, 'Create Video').click();
			const details = page.getByTestId('node-creator');
			await details.getByText('Installed').waitFor();
			await details.getByRole('button', { name: 'Add to workflow' }).waitFor();
			await details.getByText('Actions').waitFor({ state: 'detached' });
			expect(errors).toStrictEqual([]);
		});
	},
	BROWSER_LIMIT_MS,
);

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

const parameter = (name: string, required: boolean) => ({ name, type: 'string', required });

/** An agent with one tool, run by one node. */
const AGENT_WORKFLOW = drawn(
	'Agent',
	[
		node('Start', 'n8n-nodes-base.manualTrigger', 1),
		node('Agent', 'n8n-nodes-agent-video.functionCallingAgent', 1, {
			credential: 'Agent',
			parameters: {
				prompt: 'How is the weather in Rome?',
				tools: {
					tool: [
						{
							name: 'get_weather',
							description: 'Tells the weather in a city',
							define: 'fields',
							parameters: {
								parameter: [parameter('city', true), parameter('unit', false)],
							},
						},
					],
				},
			},
		}),
		set('Weather', '{ "sky": "sunny" }'),
	],
	{ Start: [['Agent']], Agent: [[], [], ['Weather']], Weather: [['Agent']] },
);

/** Switches the editor to n8n's newer form, in which every entry of a list has a heading. n8n introduces it gradually. */
const NEWER_FORM = { '048_collection_overhaul': 'variant' };

it(
	'a node that has not run offers its fields, and Agent with Tools shows each tool with its parameters and no hint about parameters for AI',
	async () => {
		await inEditor('agent', async ({ context, page, goTo, errors }) => {
			const { client, emulator } = session;
			await client.createCredential({
				name: 'Agent',
				type: 'agentVideoApi',
				data: { baseUrl: emulator.url, apiKey: 'demo-key' },
			});
			const { id } = await client.importWorkflow(AGENT_WORKFLOW);
			await context.addInitScript((overrides) => {
				localStorage.setItem('N8N_EXPERIMENT_OVERRIDES', overrides);
			}, JSON.stringify(NEWER_FORM));
			const nodes = [
				node('Start', 'n8n-nodes-base.manualTrigger', 1),
				node('Create', 'n8n-nodes-agent-video.createVideo', 1),
				set('Use', '{}'),
			];
			const fields = drawn('Fields', nodes, { Start: [['Create']], Create: [['Use']] });
			await goTo(`/workflow/${(await client.importWorkflow(fields)).id}`);
			await canvasNode(page, 'Use').dblclick();
			const input = page.getByTestId('ndv-input-panel');
			await input.getByText('task_id').first().waitFor();
			await input.getByText('video_url').first().waitFor();

			await goTo(`/workflow/${id}`);
			await page.getByTestId('execute-workflow-button').click();
			await page.getByText('Workflow executed successfully').first().waitFor();
			await canvasNode(page, 'Agent').dblclick();

			const output = page.getByTestId('output-panel');
			await output.getByText('Answer Branch (1 item)').waitFor();
			await output.getByText('sunny').first().waitFor();
			expect(await output.innerText()).not.toContain('No parameters are set up');
			const tools = page.getByTestId('fixed-collection-tools');
			await tools.getByText('get_weather(city, unit)').waitFor();
			expect(errors).toStrictEqual([]);
		});
	},
	BROWSER_LIMIT_MS,
);
