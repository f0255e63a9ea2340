import axios from 'axios';
import type { Page } from 'playwright-core';

import { openPage } from '../../../lab/browser/openPage';
import { failureOf, outputItems } from '../../../lab/n8n/execution';
import { readExampleFile } from '../../../lab/n8n/readExample';
import { node, workflow } from './buildWorkflow';
import type { ExampleLab } from './exampleRuns';
import { inPage } from './inPage';
import { until } from './ledger';

const WIDTH = 900;
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

/** Makes a link to the gallery, and watches its videos in the browser, in both themes; then ends the link. */
export async function watchGallery(lab: ExampleLab): Promise<void> {
	const { client, n8n, browser } = lab;
	const ref = await client.importWorkflow(await readExampleFile('video-gallery.json'));
	await client.activate(ref);
	const { id, status } = await createVideos(lab);
	expect(status).toBe('error');

	const address = `${n8n.url}/webhook/video-gallery`;
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
	const made = await client.waitForExecution(await client.run(ref, 'Run Now'));
	const link = outputItems(made, 'Link')[0]!.json['link'] as string;
	expect(link).toMatch(new RegExp(`^${address}\\?key=[0-9a-f]{48}$`));
	const [{ secret_hash: hash }] = (await client.dataTableRows('gallery_links')) as [
		{ secret_hash: string },
	];
	expect(link).not.toContain(hash);
	for (const query of ['', '?key=', `?key=${hash}`, '?key=%25', '?key[]=1', '?execution=1'])
		await isClosed(query);

	const { headers } = await get(link);
	expect(headers).toMatchObject({ 'cache-control': 'no-store' });
	for (const colorScheme of ['light', 'dark'] as const) {
		const opened = await openPage(browser, { width: WIDTH, height: 800, showLimitMs: 20_000 });
		await inPage(opened, `gallery-${colorScheme}`, async ({ page, errors, blocked }) => {
			await page.emulateMedia({ colorScheme });
			await page.goto(`${link}&execution=${id}`);
			await expectGallery(page);
			expect(await page.evaluate('getComputedStyle(document.body).colorScheme')).toBe(
				'light dark',
			);
			expect({ errors, blocked }).toStrictEqual({ errors: [], blocked: [] });
		});
	}

	await client.deleteDataTableRows('gallery_links', 'secret_hash', hash);
	await isClosed(link.slice(address.length));
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

/** Creates the videos one after the other; one of them fails. */
async function createVideos({ client }: ExampleLab) {
	const ref = await client.importWorkflow(
		workflow('Videos of the Gallery', [
			node('Start', 'n8n-nodes-base.manualTrigger', 1),
			node('Prompts', 'n8n-nodes-base.code', 2, {
				parameters: {
					jsCode: `return ${JSON.stringify(PROMPTS)}.map((prompt) => ({ json: { prompt } }));`,
				},
			}),
			node('Create Video', 'n8n-nodes-agent-video.createVideo', 1, {
				parameters: {
					prompt: '={{ $json.prompt }}',
					waitUntilFinished: true,
					options: {
						pricePerSecond: 0.1,
						batching: { values: { concurrency: 1 } },
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
