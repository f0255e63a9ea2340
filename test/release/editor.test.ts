import type { Browser, Page } from 'playwright-core';

import { canvasNode, field, foundNode, panelLabels } from '../../lab/browser/editorParts';
import { Hand } from '../../lab/browser/Hand';
import { openEditor, type Editor } from '../../lab/browser/openEditor';
import { startBrowser } from '../../lab/browser/startBrowser';
import { drawn, node, workflow } from '../e2e/support/buildWorkflow';
import { noOp, set, start } from '../e2e/support/drawAgent';
import { FAILURE } from '../support/failureTexts';
import { json, startScriptedServer, type ScriptedServer } from '../support/scriptedServer';
import { BROWSER_LIMIT_MS, inPage } from '../e2e/support/inPage';
import { SET_UP_LIMIT_MS, showProgress } from '../e2e/support/session';
import { useSession } from '../e2e/support/useSession';

const CREDENTIAL = 'Panels';
const own = (name: string, type: string, parameters: object) =>
	node(name, `n8n-nodes-agent-video.${type}`, 1, { parameters, credential: CREDENTIAL });
const OUTPUT = 'outputs/main/0';
const byId = (value: string) => ({ __rl: true, mode: 'id', value });

const session = useSession({ videoSeconds: 1 }, [CREDENTIAL]);
let browser: Browser;
/** A service with codes of its own, as a real account has. */
let service: ScriptedServer;

beforeAll(async () => {
	let created = 0;
	service = session.keep(
		await startScriptedServer((response, { path, body }) => {
			const { model } = body as { readonly model?: string };
			const task_id = `task-${++created}`;
			if (path === '/v1/videos/generations')
				json(response, 200, { task_id, status: 'queued', model, created_at: null });
			else json(response, 404, { error: { message: 'no task', type: 'invalid' } });
		}),
	);
	browser = await startBrowser(showProgress);
	session.keep({ stop: () => browser.close() });
}, SET_UP_LIMIT_MS);

/**
 * Works in the editor, which must report no error. `name` is the file name of the screenshot that is saved if it fails.
 */
async function inEditor(
	name: string,
	work: (editor: Editor & { readonly hand: Hand }) => Promise<void>,
): Promise<void> {
	await inPage(await openEditor(browser, session.n8n.url), `editor-${name}`, async (editor) => {
		await work({ ...editor, hand: await Hand.of(editor.page) });
		expect(editor.errors).toStrictEqual([]);
	});
}

async function choose(page: Page, name: string, option: string): Promise<void> {
	await page.getByTestId(`parameter-input-${name}`).click();
	await page.getByRole('option', { name: option }).filter({ visible: true }).click();
}

/** The choices of the list below Options. */
async function optionsIn(page: Page): Promise<string[]> {
	await page.getByTestId('collection-parameter-add').locator('input').click();
	const choices = page.getByRole('option').filter({ visible: true });
	await choices.first().waitFor();
	return await choices.allInnerTexts();
}

/** Selects a credential in the open panel. n8n does that itself, but only after a moment. */
async function chooseCredential(page: Page, name: string): Promise<void> {
	await page.getByTestId('node-credentials-select').click();
	await page.getByText(name, { exact: true }).last().click();
	await page.getByTestId('credential-edit-button').waitFor();
}

it(
	'the credential dialog hides secrets, rejects a wrong API key and accepts a valid one',
	async () => {
		await inEditor('credential', async ({ page, goTo }) => {
			await goTo('/home/credentials/create');
			const types = page.getByTestId('new-credential-type-select');
			await types.locator('input').fill('agent video');
			await page.getByTestId('new-credential-type-select-option').first().click();
			await page.getByTestId('new-credential-type-button').click();

			await field(page, 'baseUrl').fill(session.emulator.url);
			await field(page, 'apiKey').fill('not-a-key');
			await page.getByText('Add Header').click();
			await field(page, 'name').fill('X-Tenant');
			await field(page, 'value').fill('Customer');
			for (const secret of ['apiKey', 'value'])
				expect(await field(page, secret).getAttribute('type')).toBe('password');
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
		});
	},
	BROWSER_LIMIT_MS,
);

it(
	'a suspended step shows in its panel that it waits, with the progress as a hint',
	async () => {
		await inEditor('waiting', async ({ page, goTo }) => {
			const ref = await session.client.importWorkflow(
				workflow('Waiting', [
					start,
					own('Create', 'createVideo', { prompt: 'A stuck-task' }),
					own('Wait', 'waitForVideo', { waitMode: 'suspend' }),
					noOp('Next'),
				]),
			);
			await goTo(`/workflow/${ref.id}`);
			await page.getByTestId('execute-workflow-button').click();
			await canvasNode(page, 'Wait').dblclick();
			const output = page.getByTestId('output-panel');
			await output.getByText('The videos are still generating. This node polls').waitFor();
			await output.getByText(/^0 finished, 1 generating, after .*, next poll in/).waitFor();
		});
	},
	BROWSER_LIMIT_MS,
);

it(
	'a model that comes from an expression is named below the node, and App Code is shown and sent for an application only',
	async () => {
		await inEditor('answerer', async ({ page, goTo, hand }) => {
			const { client, emulator } = session;
			const model = byId('={{ $json.model }}');
			const { id } = await client.importWorkflow(
				workflow('Subtitles', [
					start,
					own('Answer', 'chatCompletion', { prompt: 'Hi', model }),
					own('Agent', 'functionCallingAgent', { prompt: 'Hi', model }),
					own('Video', 'createVideo', { prompt: 'A lake', model }),
				]),
			);
			await goTo(`/workflow/${id}`);
			await canvasNode(page, 'Answer').getByText('reply from $json.model').waitFor();
			await canvasNode(page, 'Agent').getByText('$json.model').waitFor();
			await canvasNode(page, 'Video').getByText('$json.model from text').waitFor();

			const answer = own('Answer', 'chatCompletion', {
				prompt: 'Hi',
				model: byId('chat-m1'),
			});
			const ref = await client.importWorkflow(workflow('Answerer', [start, answer]));
			await goTo(`/workflow/${ref.id}`);
			await canvasNode(page, 'Answer').getByText('reply from chat-m1').waitFor();
			await canvasNode(page, 'Answer').dblclick();
			await page.getByTestId('ndv').waitFor();
			expect((await panelLabels(page)).slice(0, 5)).toStrictEqual([
				...['Answered By', 'Model', 'Input', 'Prompt', 'System Message'],
			]);

			await choose(page, 'answeredBy', 'Application or Workflow');
			await field(page, 'appCode').fill('demo-app');
			expect((await panelLabels(page)).slice(0, 4)).toStrictEqual([
				...['Answered By', 'App Code', 'Model', 'Input'],
			]);
			const options = await optionsIn(page);
			expect(options).toStrictEqual(options.toSorted());
			expect(options).toEqual(expect.arrayContaining(['If Reply Is Empty', 'Temperature']));
			await page.getByRole('option', { name: 'Concurrency' }).click();
			await field(page, 'concurrency').fill('2');
			await hand.closePanel();
			await canvasNode(page, 'Answer').getByText('reply from demo-app').waitFor();

			emulator.journal.clear();
			await page.getByTestId('execute-workflow-button').click();
			await page.getByText('Workflow executed successfully').first().waitFor();
			const [sent] = emulator.journal.of('/v1/chat/completions');
			expect(sent!.body).toMatchObject({ app_code: 'demo-app', model: 'chat-m1' });
		});
	},
	BROWSER_LIMIT_MS,
);

it(
	'a first video: the form begins with what it needs, and a step says that nothing waits for it',
	async () => {
		await inEditor('first-video', async ({ page, goTo }) => {
			const ref = await session.client.importWorkflow(
				workflow('First Video', [
					start,
					own('Create', 'createVideo', { prompt: 'A lake' }),
				]),
			);
			await goTo(`/workflow/${ref.id}`);
			await canvasNode(page, 'Create').getByText('Start a video with video-m1').waitFor();
			await canvasNode(page, 'Create').dblclick();
			const panel = page.getByTestId('ndv');
			await panel.waitFor();
			expect((await panelLabels(page)).slice(0, 10)).toStrictEqual([
				...['Model', 'Prompt', 'Wait Until Finished', 'References', 'Aspect Ratio'],
				...['Duration', 'Size', 'Generate Audio', 'Watermark', 'Options'],
			]);
			await panel.getByTestId('node-execute-button').click();
			const output = page.getByTestId('output-panel');
			await output.getByText('nothing in this workflow waits').waitFor();

			await panel.getByText('Add File').click();
			await panel.getByText('Image Mode').waitFor();
			const options = await optionsIn(page);
			const limits = options.indexOf('Limit Period');
			expect(options.slice(limits, limits + 3)).toStrictEqual([
				...['Limit Period', 'Maximum Cost', 'Maximum Videos'],
			]);
		});
	},
	BROWSER_LIMIT_MS,
);

it(
	'a video has no list with one entry, its result fits into a row of the table, and Wait Mode is back after a look at the ledger',
	async () => {
		await inEditor('video', async ({ page, goTo, hand }) => {
			const { client } = session;
			const ref = await client.importWorkflow(
				workflow('One Length', [
					start,
					own('Create', 'createVideo', { prompt: 'A lake', model: byId('video-m8') }),
					own('Wait', 'waitForVideo', {}),
				]),
			);
			await goTo(`/workflow/${ref.id}`);
			await page.getByTestId('execute-workflow-button').click();
			await page.getByText('Workflow executed successfully').first().waitFor();
			await canvasNode(page, 'Create').dblclick();
			await page.getByTestId('ndv').waitFor();
			const labels = await panelLabels(page);
			expect(labels).toContain('Aspect Ratio');
			expect(labels).not.toContain('Duration');
			expect(labels).not.toContain('Image Mode');
			await hand.closePanel();

			await canvasNode(page, 'Wait').dblclick();
			const output = page.getByTestId('output-panel');
			await output.getByTestId('radio-button-table').click();
			const row = output.locator('tbody tr').first();
			await row.getByText(/completed [\d.]+ s/).waitFor();
			expect((await row.boundingBox())!.height).toBeLessThan(200);

			const fields = await panelLabels(page);
			expect(fields).toContain('Wait Mode');
			await choose(page, 'tasks', 'From the Task Ledger');
			await choose(page, 'ledgerTasks', 'Of the Project');
			await page.getByText('Workflow ID').waitFor({ state: 'detached' });
			await choose(page, 'tasks', 'From Input');
			await page.getByText('Which Tasks').waitFor({ state: 'detached' });
			expect(await panelLabels(page)).toStrictEqual(fields);
		});
	},
	BROWSER_LIMIT_MS,
);

it(
	'files stay when another model is chosen',
	async () => {
		await inEditor('other-model', async ({ page, goTo }) => {
			const url = 'https://files.example.com/a.png';
			const ref = await session.client.importWorkflow(
				workflow('Other Model', [
					start,
					own('Create', 'createVideo', {
						prompt: 'A lake',
						model: { __rl: true, mode: 'list', value: 'video-m1' },
						references: { file: [{ kind: 'image', source: 'url', url }] },
					}),
				]),
			);
			await goTo(`/workflow/${ref.id}`);
			await canvasNode(page, 'Create').dblclick();
			for (const model of ['video-m2', 'video-m5']) {
				await page.getByTestId('resource-locator-model').getByTestId('rlc-input').click();
				await page.getByTestId('rlc-item').filter({ hasText: model }).first().click();
				await page.getByTestId('rlc-item').first().waitFor({ state: 'detached' });
				expect(await field(page, 'url').inputValue()).toBe(url);
			}
		});
	},
	BROWSER_LIMIT_MS,
);

const rows = (page: Page, list: string) => page.getByTestId(`fixed-collection-${list}`);

/** Chooses in the last one of several lists with this name. */
async function chooseLast(page: Page, name: string, text: string): Promise<void> {
	await page.getByTestId(`parameter-input-${name}`).last().click();
	await page.getByRole('option').filter({ hasText: text }).last().click();
}

it(
	'model codes are entered in the credential and chosen in the nodes',
	async () => {
		await inEditor('model-codes', async ({ page, goTo, hand }) => {
			const name = 'Own Codes';
			await session.credential(name, service.url, 'k-secret');
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
			await chooseLast(page, 'like', 'video-m5');
			await save();

			// Opened again, the rows are there, and another one is added.
			await open();
			await page.getByText('Add Video Model').click();
			expect(await field(page, 'code').nth(1).inputValue()).toBe('acme-pro');
			await field(page, 'code').last().fill('acme-lite');
			await save();

			await goTo('/workflow/new');
			await hand.startWith('Trigger manually');
			await hand.clickPlus('When clicking ‘Execute workflow’', OUTPUT);
			await hand.choose('video', 'Create Video', 'Add to workflow');
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
			await chooseLast(page, 'qualityMode', 'Pro (1080P)');
			expect(await page.getByTestId('parameter-input-size').count()).toBe(0);
			expect(await page.getByTestId('parameter-input-qualityMode').count()).toBe(1);
			await chooseLast(page, 'aspectRatio', '3:4');
			await field(page, 'prompt').fill('A lighthouse at dawn');
			await hand.closePanel();
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

			await hand.clickPlus('Create Video', OUTPUT);
			await hand.choose('chatbot', 'Chat Completion', 'Add to workflow');
			await chooseCredential(page, name);
			await page.getByTestId('resource-locator-model').getByTestId('rlc-input').click();
			await items.filter({ hasText: 'Acme Chat' }).waitFor();
			expect(await items.allInnerTexts()).toStrictEqual(['Default Model', 'Acme Chat']);
		});
	},
	BROWSER_LIMIT_MS,
);

/** A search text without results. */
const NOTHING = 'zzzqqq';

/** Searches in the panel for the next node. */
async function searchNodes(page: Page, text: string): Promise<void> {
	const search = page.getByTestId('node-creator-search-bar');
	if (!(await search.isVisible())) await page.getByTestId('node-creator-plus-button').click();
	// Results of the previous search stay for a moment: wait until they are gone.
	await search.fill(NOTHING);
	await page.getByTestId('node-creator-item-name').first().waitFor({ state: 'detached' });
	await search.fill(text);
}

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
		await inEditor('search', async ({ page, goTo, hand }) => {
			await goTo('/workflow/new');
			await hand.startWith('Trigger manually');
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
		});
	},
	BROWSER_LIMIT_MS,
);

const parameter = (name: string, required: boolean) => ({ name, type: 'string', required });

/** An agent with one tool, run by one node. */
const AGENT_WORKFLOW = drawn(
	'Agent',
	[
		start,
		node('Agent', 'n8n-nodes-agent-video.functionCallingAgent', 1, {
			credential: CREDENTIAL,
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
		await inEditor('agent', async ({ context, page, goTo }) => {
			const { client } = session;
			const { id } = await client.importWorkflow(AGENT_WORKFLOW);
			await context.addInitScript((overrides) => {
				localStorage.setItem('N8N_EXPERIMENT_OVERRIDES', overrides);
			}, JSON.stringify(NEWER_FORM));
			const nodes = [
				start,
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
		});
	},
	BROWSER_LIMIT_MS,
);
