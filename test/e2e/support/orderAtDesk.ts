import type { Page } from 'playwright-core';

import { goTo } from '../../../lab/browser/openChat';
import { openEditor } from '../../../lab/browser/openEditor';
import { openPage } from '../../../lab/browser/openPage';
import { failureOf } from '../../../lab/n8n/execution';
import { readExampleFile, webhookIdOf } from '../../../lab/n8n/readExample';
import type { Workflow } from '../../../lab/n8n/workflow';
import { node, workflow } from './buildWorkflow';
import type { ExampleLab } from './exampleRuns';
import { inPage } from './inPage';
import { CREATIONS, LATE, LEDGER } from './ledger';
import { startMailbox } from './mailbox';
import { makeTasksOld } from './oldTasks';
import { publish } from './session';

const WINDOW = { width: 900, height: 800, showLimitMs: 60_000 };
/** The name of a customer comes from outside. */
const CUSTOMER = 'Kites & <b>Co</b>/EU';

/** A timezone where it is noon: a task that is made some minutes older stays one of this day. */
function zoneAtNoon(): string {
	const behind = new Date().getUTCHours() - 12;
	return `Etc/GMT${behind < 0 ? '' : '+'}${behind}`;
}

/** Orders at the money desk in the browser until the budget is spent: each video costs 0.50. */
export async function orderAtDesk(lab: ExampleLab): Promise<void> {
	const { client, emulator, n8n, browser } = lab;
	const mailbox = lab.keep(await startMailbox(client));
	const text = JSON.stringify(await readExampleFile('money-desk.json'));
	expect(text.split('"value":50')).toHaveLength(2);
	const drawn = JSON.parse(text.replace('"value":50', '"value":1.2')) as Workflow;
	const example = { ...drawn, settings: { ...drawn.settings, timezone: zoneAtNoon() } };
	const ref = await publish(client, example);
	const form = `${n8n.url}/form/${webhookIdOf(example)}`;
	const ownTasks = () => emulator.tasks.all.slice(before).map(({ id }) => id);
	const before = emulator.tasks.all.length;

	const opened = await openEditor(browser, n8n.url, WINDOW);
	await inPage(opened, 'money-desk', async ({ page }) => {
		const visit = async (customer: string, prompt = '') =>
			await fillIn(page, form, customer, prompt);
		expect((await visit('Ada')).news).toBe('');
		const first = await visit(CUSTOMER, 'A fail-task');
		expect(first.news).toBe(`Ordered: task ${ownTasks()[0]}`);
		expect(first.rows[CUSTOMER]).toStrictEqual(['0.50', '0.50', '1', '1', '0', '0']);
		expect(mailbox.letters).toStrictEqual([]);
		expect(emulator.journal.of(CREATIONS)).toHaveLength(1);

		const second = await visit('Ada', 'A kite');
		const sum = '1.00 of 1.20 is spent this month.';
		expect(second.sum).toBe(sum);
		expect(second.rows).toMatchObject({
			Ada: ['0.50', '0.50', '1', '1', '0', '0'],
			[CUSTOMER]: ['0.50', '0.50', '1', '1', '0', '0'],
		});
		const subject = '80% of the video budget is spent';
		expect(mailbox.letters).toStrictEqual([{ to: 'operator@example.com', subject, text: sum }]);

		await makeTasksOld(client, ownTasks());
		// A video that is late has not failed.
		await client.updateDataTableRows(LEDGER, ['task_id', ownTasks()[1]!], { error: LATE });
		const refused = await visit('Ada', 'A boat');
		expect(refused.news).toMatch(/^No video: .*Maximum Cost is 1.2\. .* has cost 1 this month/);
		expect(refused.rows['Ada']).toStrictEqual(['0.50', '0.50', '1', '1', '1', '0']);
		expect(ownTasks()).toHaveLength(2);

		await collect(lab, ref.id);
		const { rows } = await visit('Ada');
		expect(rows['Ada']).toStrictEqual(['0.50', '0.50', '1', '0', '0', '0']);
		expect(rows[CUSTOMER]).toStrictEqual(['0.50', '0.50', '1', '0', '0', '1']);
		expect(mailbox.letters).toHaveLength(1);
		expect(await page.locator('td b').count()).toBe(0);
		const visits = await client.executions(ref);
		expect(visits).toHaveLength(5);
		for (const { id } of visits) {
			const ended = await client.waitForExecution(id, { orWaiting: true });
			expect(failureOf(ended)).toBe('');
		}
	});

	// Without an account of this n8n there is no form.
	const stranger = await openPage(browser, WINDOW);
	await inPage(stranger, 'money-desk-stranger', async ({ page }) => {
		await page.goto(form);
		await page.getByText('Sign in').first().waitFor();
		expect(await page.getByText('Order a video').count()).toBe(0);
	});
}

/** Fills in the form. Returns what its last page shows: figures by customer. */
async function fillIn(page: Page, form: string, customer: string, prompt: string) {
	await goTo(page, form);
	// n8n asks whether the form may use the account.
	const allow = page.getByText('Allow access');
	const name = page.locator('input[type="text"]').first();
	await allow.or(name).waitFor();
	if (await allow.isVisible()) await allow.click();
	await name.fill(customer);
	await page.locator('textarea').fill(prompt);
	await page.locator('button[type="submit"]').click();
	await page.getByText('Money desk', { exact: true }).waitFor();
	const lines = await page.locator('tr').allInnerTexts();
	const cells = lines.slice(1).map((line) => line.split('\t'));
	const news = page.locator('#news');
	return {
		news: (await news.count()) === 0 ? '' : await news.innerText(),
		sum: await page.getByText('is spent this month').innerText(),
		rows: Object.fromEntries(cells.map(([name, ...figures]) => [name!, figures])),
	};
}

/** Collects the open videos of a workflow. */
async function collect({ client }: ExampleLab, workflowId: string): Promise<void> {
	const which = { tasks: 'ledger', ledgerTasks: 'workflow', workflowId };
	const parameters = { ...which, download: false, options: { minimumAge: 0 } };
	const ref = await client.importWorkflow(
		workflow('Collect the Orders', [
			node('Start', 'n8n-nodes-base.manualTrigger', 1),
			node('Wait for Video', 'n8n-nodes-agent-video.waitForVideo', 1, {
				parameters,
				credential: 'Agent Video account',
			}),
		]),
	);
	await client.waitForExecution(await client.run(ref, 'Start'));
}
