import axios from 'axios';
import type { Page } from 'playwright-core';

import { openPage } from '../../../lab/browser/openPage';
import { failureOf, outputItems } from '../../../lab/n8n/execution';
import type { WorkflowRef } from '../../../lab/n8n/N8nClient';
import { readExampleFile } from '../../../lab/n8n/readExample';
import type { Workflow } from '../../../lab/n8n/workflow';
import { node, workflow } from './buildWorkflow';
import { items, start } from './drawAgent';
import type { ExampleLab } from './exampleRuns';
import { inPage } from './inPage';
import { LATE, LEDGER, until } from './ledger';
import { publish } from './session';

const FILE = 'video-gallery.json';
const WIDTH = 900;
const PHONE = 390;
const FILM = "document.getElementById('film')";
/** A prompt from outside that is also markup, a script, and the end of one. */
const HOSTILE = `A kite <img src=x onerror="document.title='mine'"></script><script>document.title='mine'</script>`;
const PROMPTS = ['A lighthouse at dawn', HOSTILE, 'A fail-task', 'A paper boat'];

const get = async (url: string) =>
	await axios.get<string>(url, {
		proxy: false,
		responseType: 'text',
		validateStatus: () => true,
	});

/** Makes a link to the gallery, and watches its videos in the browser; then ends the link. */
export async function watchGallery(lab: ExampleLab): Promise<void> {
	const { client, browser } = lab;
	await expectEmpty(lab);
	const ref = await publish(client, await readExampleFile(FILE));
	const { id, status } = await createVideos(lab);
	expect(status).toBe('error');

	const address = addressOf(lab);
	const isClosed = async (query: string) => {
		const { status: code, data } = await get(address + query);
		expect({ query, code, data }).toStrictEqual({
			query,
			code: 403,
			data: 'This link is not valid.',
		});
	};
	await waitForWebhook(address);
	await isClosed('?key=1');
	const link = await makeLink(lab, ref);
	expect(link).toMatch(new RegExp(`^${address}\\?key=[0-9a-f]{48}$`));
	const hash = await onlyHash(lab);
	expect(link).not.toContain(hash);
	for (const query of ['', '?key=', `?key=${hash}`, '?key=%25', '?key[]=1', '?execution=1'])
		await isClosed(query);

	const { headers } = await get(link);
	expect(headers).toMatchObject({ 'cache-control': 'no-store' });
	const opened = await openPage(browser, { width: WIDTH, height: 800, showLimitMs: 20_000 });
	await inPage(opened, 'gallery', async ({ page, errors, blocked }) => {
		await page.goto(`${link}&execution=${id}`);
		await expectGallery(page);
		expect(await page.evaluate('getComputedStyle(document.body).colorScheme')).toBe(
			'light dark',
		);
		expect({ errors, blocked }).toStrictEqual({ errors: [], blocked: [] });
	});

	await expectOld(lab, link, id);

	// The links of the videos have expired: the page asks for each at most once in the film, and once in the list.
	const late = await openPage(browser, { width: WIDTH, height: 800, showLimitMs: 20_000 });
	await inPage(late, 'gallery-expired', async ({ page }) => {
		const asked: string[] = [];
		await page.route(/\.mp4/, async (route) => {
			asked.push(route.request().url());
			await route.abort();
		});
		await page.goto(`${link}&execution=${id}`);
		await page.getByText('No video can be loaded').waitFor();
		for (const card of await page.locator('article').all()) await card.scrollIntoViewIfNeeded();
		const times = [...new Set(asked)].map((url) => asked.filter((each) => each === url).length);
		expect(times).toHaveLength(3);
		expect(Math.max(...times)).toBeLessThanOrEqual(2);
	});

	await client.deleteDataTableRows('gallery_links', 'secret_hash', hash);
	await isClosed(link.slice(address.length));
}

const addressOf = ({ n8n }: ExampleLab) => `${n8n.url}/webhook/video-gallery`;

async function makeLink({ client }: ExampleLab, ref: WorkflowRef): Promise<string> {
	const made = await client.waitForExecution(await client.run(ref, 'Run Now'));
	return outputItems(made, 'Link')[0]!.json['link'] as string;
}

/** The hash of the only link. */
async function onlyHash({ client }: ExampleLab): Promise<string> {
	const rows = await client.dataTableRows('gallery_links');
	expect(rows).toHaveLength(1);
	return String(rows![0]!['secret_hash']);
}

/** Opens the gallery of a project that has no ledger yet, and then of an execution that has made no videos. */
async function expectEmpty(lab: ExampleLab): Promise<void> {
	const { client, browser } = lab;
	const example = JSON.stringify(await readExampleFile(FILE));
	const ref = await publish(
		client,
		JSON.parse(example.replaceAll('agent_video_tasks', 'no_such_ledger')) as Workflow,
	);
	await waitForWebhook(addressOf(lab));
	// There is no table of links yet.
	expect((await get(`${addressOf(lab)}?key=1`)).status).toBe(403);
	const link = await makeLink(lab, ref);
	for (const [colorScheme, width] of [
		['light', WIDTH],
		['dark', PHONE],
	] as const) {
		const opened = await openPage(browser, { width, height: 800, showLimitMs: 20_000 });
		await inPage(opened, `gallery-empty-${colorScheme}`, async ({ page, errors, blocked }) => {
			await page.emulateMedia({ colorScheme });
			const seen = async () => (await page.locator('body').innerText()).split(/\n+/);
			await page.goto(link);
			expect(await seen()).toStrictEqual([
				'Videos',
				'No videos yet',
				'Each video that Create Video sends appears here, also before it is finished.',
			]);
			expect(await page.locator('.empty svg').isVisible()).toBe(true);
			const overflow = 'document.documentElement.scrollWidth - innerWidth';
			expect(await page.evaluate(overflow)).toBe(0);
			await page.goto(`${link}&execution=<b>0</b>`);
			expect(await seen()).toStrictEqual([
				'Film',
				'No videos',
				'Execution <b>0</b> has created none. Check the number at the end of the address.',
			]);
			expect({ errors, blocked }).toStrictEqual({ errors: [], blocked: [] });
		});
	}
	await client.deleteDataTableRows('gallery_links', 'secret_hash', await onlyHash(lab));
	// The address is free for the example itself.
	await client.archiveWorkflows();
}

async function expectGallery(page: Page): Promise<void> {
	expect(await page.title()).toBe('Videos');
	expect(await page.locator('#sum').innerText()).toBe(
		'4 videos: 3 finished, 0 being made, 1 failed, 0 no answer. Estimated cost: 2.00',
	);
	const cards = page.locator('article');
	const texts = await cards.allInnerTexts();
	for (const prompt of PROMPTS) expect(texts.join('\n')).toContain(prompt);
	expect(texts.filter((text) => text.includes('could not be generated'))).toHaveLength(1);
	expect(await page.locator('img').count()).toBe(0);
	// Today's bar has the cost of the four.
	expect(await page.locator('svg text').allTextContents()).toContain('2.00');

	const caption = page.locator('#caption');
	await page.getByText('Play the film').click();
	for (const [index, prompt] of PROMPTS.filter((each) => each !== 'A fail-task').entries()) {
		await caption.getByText(`${index + 1} of 3 · ${prompt}`, { exact: true }).waitFor();
		await until(() => page.evaluate<boolean>(`${FILM}.currentTime > 0.1`));
		await page.evaluate(`${FILM}.currentTime = ${FILM}.duration - 0.2`);
	}
	// After the last scene it is at its beginning, and stands.
	await caption.getByText('1 of 3').waitFor();
	expect(await page.evaluate(`${FILM}.paused`)).toBe(true);

	// The cards on the screen have loaded: n8n lets the page play what lies on another host.
	await cards.first().scrollIntoViewIfNeeded();
	const isLoaded = "document.querySelector('article video').readyState > 0";
	await until(() => page.evaluate<boolean>(isLoaded));
}

/** Opens the pages of an execution and of a film after 500 newer rows; one more video is late. */
async function expectOld({ client }: ExampleLab, link: string, id: string): Promise<void> {
	const rows = (await client.dataTableRows(LEDGER))!;
	const playable = rows.filter((row) => row['execution_id'] === id && row['video_url']);
	const newer = { workflow_id: 'newer', status: 'claimed' };
	const open = { ...newer, status: 'open', sent_at: new Date().toISOString(), error: LATE };
	const late = { ...open, task_id: 'late', execution_id: id };
	const project = await client.personalProject();
	await client.insertDataTableRows(LEDGER, project, [
		late,
		...Array<typeof newer>(499).fill(newer),
		{ ...open, task_id: 'last' },
	]);
	const sumOf = async (query: string) =>
		/<p id="sum">(.*?)\. /.exec((await get(link + query)).data)?.[1];
	expect(await sumOf(`&execution=${id}`)).toBe(
		'5 videos: 3 finished, 1 being made, 1 failed, 0 no answer',
	);
	const film = playable.slice(1).map(({ task_id }) => task_id);
	expect(await sumOf(`&tasks=${film.join()}`)).toBe(
		'2 videos: 2 finished, 0 being made, 0 failed, 0 no answer',
	);
	expect((await get(`${link}&tasks=x`)).data).toContain('The task ledger has none of them.');
	// Nobody takes the newest for all.
	expect(await sumOf('')).toBe(
		'The newest 1 videos: 0 finished, 1 being made, 0 failed, 0 no answer',
	);
	await client.deleteDataTableRows(LEDGER, 'workflow_id', newer.workflow_id);
}

/** Creates the videos one after the other; one of them fails. */
async function createVideos({ client }: ExampleLab) {
	const ref = await client.importWorkflow(
		workflow('Videos of the Gallery', [
			start,
			items('Prompts', ...PROMPTS.map((prompt) => ({ prompt }))),
			node('Create Video', 'n8n-nodes-agent-video.createVideo', 1, {
				parameters: {
					prompt: '={{ $json.prompt }}',
					waitUntilFinished: true,
					options: {
						pricePerSecond: 0.1,
						concurrency: 1,
					},
				},
				credential: 'Agent Video account',
			}),
		]),
	);
	const execution = await client.waitForExecution(await client.run(ref, 'Start'));
	expect(failureOf(execution)).toContain('could not be generated');
	return execution;
}

/** n8n answers 404 for a moment after a workflow was published. */
async function waitForWebhook(url: string): Promise<void> {
	while ((await get(url)).status === 404);
}
