import type { Browser } from 'playwright-core';

import { EXAMPLE_CREDENTIAL } from '../../lab/demo/readExample';
import { startBrowser } from '../../lab/browser/startBrowser';
import { EXAMPLE_RUNS } from './support/exampleRuns';
import { say } from './support/say';
import { RUN_LIMIT_MS, SET_UP_LIMIT_MS, startSession, type Session } from './support/session';

/** Milliseconds: an example may wait for videos, and durable waiting takes a minute at least. */
const EXAMPLE_LIMIT_MS = 5 * 60_000;

let session: Session;
let browser: Browser | undefined;

beforeAll(async () => {
	session = await startSession({ videoSeconds: 3 });
	browser = await startBrowser(say);
	await session.client.createCredential({
		name: EXAMPLE_CREDENTIAL,
		type: 'agentVideoApi',
		data: { baseUrl: session.emulator.url, apiKey: 'demo-key' },
	});
}, SET_UP_LIMIT_MS);

afterAll(async () => {
	await browser?.close();
	await session.stop();
}, RUN_LIMIT_MS);

it.each(Object.entries(EXAMPLE_RUNS))(
	'%s does what its notes say',
	async (_file, runExample) => {
		session.emulator.journal.clear();
		await runExample({ ...session, browser: browser! });
	},
	EXAMPLE_LIMIT_MS,
);
