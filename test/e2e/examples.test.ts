// @seconds 135
import { join } from 'node:path';

import type { Browser } from 'playwright-core';

import { startEmulator } from '../../emulator/startEmulator';
import { startBrowser } from '../../lab/browser/startBrowser';
import { N8nClient } from '../../lab/n8n/N8nClient';
import { EXAMPLE_CREDENTIAL } from '../../lab/n8n/readExample';
import { startN8n } from '../../lab/n8n/startN8n';
import { ROOT } from '../../lab/paths';
import { Running } from '../../lab/services/Running';
import { thorough } from '../support/thorough';
import { EXAMPLE_RUNS, type ExampleLab } from './support/exampleRuns';
import {
	createCredential,
	RUN_LIMIT_MS,
	SET_UP_LIMIT_MS,
	showProgress,
	startSession,
} from './support/session';

/** Timeout of an example, in milliseconds: some are suspended for a minute. */
const EXAMPLE_LIMIT_MS = 5 * 60_000;

/**
 * The examples whose execution is suspended for a minute, creates one video after another, or polls a task that the
 * service does not know. They run beside the others, each with an emulator of its own, in an n8n of their own.
 */
const SLOW: readonly string[] = [
	'deliver-later.json',
	'storyboard-to-film.json',
	'nightly-table-batch.json',
];

/** Pages of their own in a browser, which change with nothing else: weekly and before a release. */
const PAGES: readonly string[] = thorough(['video-gallery.json', 'money-desk.json'], []);

const OTHER_WORDS = join(ROOT, 'test', 'fixtures', 'otherWords.yaml');
/** A video is finished at its first poll. */
const VIDEO_SECONDS = 0.01;

const running = new Running();
const keep: ExampleLab['keep'] = (resource) => running.keep(resource);
let lab: ExampleLab;
let slowRuns: Readonly<Record<string, Promise<void>>>;

beforeAll(async () => {
	const browser = await startBrowser(showProgress);
	running.keep({ stop: () => browser.close() });
	slowRuns = await startSlow(browser);
	const options = { videoSeconds: VIDEO_SECONDS, scripts: [OTHER_WORDS] };
	const session = await startSession(running, options);
	await createCredential(session.client, EXAMPLE_CREDENTIAL, session.emulator.url);
	lab = { ...session, browser, keep };
}, SET_UP_LIMIT_MS);

afterAll(async () => {
	await running.stop();
}, RUN_LIMIT_MS);

/** Begins the slow examples. */
async function startSlow(browser: Browser): Promise<Readonly<Record<string, Promise<void>>>> {
	const n8n = running.keep(await startN8n({ editor: false }));
	// The first sign-in creates the owner.
	await N8nClient.signIn(n8n.url);
	const begun = SLOW.map(async (file) => {
		const clock = file === 'deliver-later.json' ? 'virtual' : 'real';
		const emulator = running.keep(await startEmulator({ videoSeconds: VIDEO_SECONDS, clock }));
		const client = await N8nClient.signIn(n8n.url);
		await createCredential(client, EXAMPLE_CREDENTIAL, emulator.url);
		await EXAMPLE_RUNS[file]!({
			emulator,
			client,
			n8n,
			browser,
			keep,
		});
	});
	// The test of each reports its failure.
	for (const run of begun) run.catch(() => undefined);
	return Object.fromEntries(SLOW.map((file, index) => [file, begun[index]!]));
}

it.each(Object.entries(EXAMPLE_RUNS).filter(([file]) => !PAGES.includes(file)))(
	'%s does what its notes say',
	async (file, runExample) => {
		if (SLOW.includes(file)) {
			await slowRuns[file];
			return;
		}
		lab.emulator.journal.clear();
		await runExample(lab);
	},
	EXAMPLE_LIMIT_MS,
);
