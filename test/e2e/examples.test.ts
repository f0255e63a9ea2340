// @seconds 85
import { EXAMPLE_CREDENTIAL } from '../../lab/n8n/readExample';
import { startBrowser } from '../../lab/browser/startBrowser';
import { Running } from '../../lab/services/Running';
import { EXAMPLE_RUNS, type ExampleLab } from './support/exampleRuns';
import {
	RUN_LIMIT_MS,
	SET_UP_LIMIT_MS,
	showProgress,
	startSession,
	type Session,
} from './support/session';

/** Timeout of an example, in milliseconds: one of them is suspended for a minute. */
const EXAMPLE_LIMIT_MS = 5 * 60_000;

/** The example whose execution is suspended for a minute. It runs beside the others, with an emulator of its own. */
const SUSPENDED = 'durable-waiting.json';

const running = new Running();
let lab: ExampleLab;
let suspendedRun: Promise<void>;

beforeAll(async () => {
	const browser = await startBrowser(showProgress);
	running.keep({ stop: () => browser.close() });
	suspendedRun = EXAMPLE_RUNS[SUSPENDED]!({ ...(await start()), browser });
	// Its own test reports a failure.
	suspendedRun.catch(() => undefined);
	lab = { ...(await start()), browser };
}, SET_UP_LIMIT_MS);

afterAll(async () => {
	await running.stop();
}, RUN_LIMIT_MS);

async function start(): Promise<Session> {
	const session = running.keep(await startSession({ videoSeconds: 3 }));
	await session.client.createCredential({
		name: EXAMPLE_CREDENTIAL,
		type: 'agentVideoApi',
		data: { baseUrl: session.emulator.url, apiKey: 'demo-key' },
	});
	return session;
}

it.each(Object.entries(EXAMPLE_RUNS))(
	'%s does what its notes say',
	async (file, runExample) => {
		if (file === SUSPENDED) {
			await suspendedRun;
			return;
		}
		lab.emulator.journal.clear();
		await runExample(lab);
	},
	EXAMPLE_LIMIT_MS,
);
