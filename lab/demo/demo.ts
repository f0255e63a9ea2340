import { join, relative } from 'node:path';

import { Command, InvalidArgumentError } from 'commander';

import { startEmulator, type Emulator } from '../../emulator/startEmulator';
import { buildPackage } from '../n8n/buildPackage';
import { chatTable, executionTable, invitation, videoTable } from './demoReport';
import { DEMO_FOLDER, KeptDemo } from './keptDemo';
import { installLab } from '../n8n/installLab';
import { N8nClient } from '../n8n/N8nClient';
import { ROOT } from '../paths';
import { EXAMPLES, readExample, webhookIdOf } from '../n8n/readExample';
import { runBatch, saveVideos } from './runBatch';
import { runChat } from './runChat';
import { setUpWorkflows, type DemoWorkflows } from './setUpWorkflows';
import { showMails } from './showMails';
import { startN8n, type N8n } from '../n8n/startN8n';
import { freePort } from '../services/freePort';
import { Running } from '../services/Running';
import { isInterrupted, step, stopOnSignals } from '../services/step';
import { chatUrl } from '../n8n/streamChat';

interface DemoOptions {
	readonly once?: true;
	readonly port?: number;
	readonly fresh?: true;
	readonly folder: string;
}

const OUTPUT = join(ROOT, 'demo-output');
/** Long enough to see the status of the tasks change. */
const VIDEO_SECONDS = 12;
const QUESTION = 'Give me one idea for a short video about the sea.';

const running = new Running();
/** Exit code after Ctrl+C: an error until there is a result. */
let interruptedCode = 130;

/** Runs the demo from the setup to the results. What it starts keeps running. */
async function demo(options: DemoOptions): Promise<void> {
	const { once, port = 0 } = options;
	// Before minutes of preparation.
	if (port > 0) await freePort(port);
	const kept = once ? undefined : await openFolder(options);
	await step('Prepare n8n', (showProgress) => installLab({ onProgress: showProgress }));
	await step('Build the package', buildPackage);
	const emulator = await step('Start the service emulator', async () => {
		const port = await portNear(kept?.memory.emulatorPort);
		return running.keep(await startEmulator({ videoSeconds: VIDEO_SECONDS, port }));
	});
	const mails = running.keep(
		await showMails((lines) => {
			console.log(`\n${lines}`);
		}),
	);
	const n8n = await step('Start n8n', async () =>
		running.keep(
			await startN8n({
				port: port || (await portNear(kept?.memory.n8nPort)),
				...(kept && { userFolder: kept.userFolder }),
			}),
		),
	);
	await kept?.remember({ n8nPort: Number(new URL(n8n.url).port), emulatorPort: emulator.port });

	const { client, workflows } = await step('Sign in, import the examples', async () => {
		const client = await N8nClient.signIn(n8n.url);
		const mailPort = mails.port;
		return { client, workflows: await setUpWorkflows(client, kept, { emulator, mailPort }) };
	});
	if (!kept?.memory.hasShownExamples) {
		await showExamples(client, workflows, { emulator, n8n });
		await kept?.remember({ hasShownExamples: true });
	}
	if (once) return;

	const pages = {
		n8n: n8n.url,
		startHere: `${n8n.url}/workflow/${workflows.startHere.id}`,
		agentChat: chatUrl(n8n.url, webhookIdOf(await readExample('agent'))),
	};
	console.log(`\n${invitation(pages, kept && shown(kept.folder))}`);
}

/** Opens the folder of the demo, and says what of it is kept. */
async function openFolder({ folder, fresh }: DemoOptions): Promise<KeptDemo | undefined> {
	const kept = await KeptDemo.open(folder, { ...(fresh && { fresh }) });
	if (kept === undefined) {
		console.log(
			`Another demo uses ${shown(folder)}. This one has an n8n of its own and keeps nothing.`,
		);
		return undefined;
	}
	running.keep(kept);
	if (fresh) console.log(`Starting over: ${shown(folder)} was emptied.`);
	if (kept.isContinued) {
		console.log(
			`Continuing with what you built in ${shown(folder)}.\n` +
				'To start over: npm run demo -- --fresh',
		);
	}
	return kept;
}

/** A path as the user sees it from the current folder. */
const shown = (path: string) => relative('', path) || '.';

/** The port of the last start if it is still free, or another one. */
async function portNear(last: number | undefined): Promise<number> {
	return await freePort(last).catch(async () => await freePort());
}

/** Runs two examples and prints their results. */
async function showExamples(
	client: N8nClient,
	{ byFile }: DemoWorkflows,
	{ emulator, n8n }: { readonly emulator: Emulator; readonly n8n: N8n },
): Promise<void> {
	const [batch, chat] = [await readExample('batch'), await readExample('chat')];
	const [batchRef, chatRef] = [byFile[EXAMPLES.batch.file]!, byFile[EXAMPLES.chat.file]!];
	const { execution, videos } = await step(`Run "${batch.name}" in n8n`, async (showProgress) => {
		const execution = await runBatch(client, batchRef, { emulator, onProgress: showProgress });
		return { execution, videos: await saveVideos(client, execution, OUTPUT) };
	});
	const url = chatUrl(n8n.url, webhookIdOf(chat));
	const answer = await step(`Run "${chat.name}" in n8n`, () =>
		runChat(client, chatRef, { url, question: QUESTION }),
	);
	for (const table of [executionTable(execution), videoTable(videos), chatTable(answer)]) {
		console.log(`\n${table}`);
	}
	console.log(`\nThe videos are saved in ${shown(OUTPUT)}.`);
}

async function main(options: DemoOptions): Promise<void> {
	stopOnSignals(running, () => interruptedCode);
	try {
		await demo(options);
		interruptedCode = 0;
		if (options.once) await running.stop();
	} catch (error) {
		if (!isInterrupted()) console.error(`\nThe demo failed: ${(error as Error).message}`);
		await running.stop();
		process.exitCode = 1;
	}
}

function toPort(text: string): number {
	const port = Number(text);
	if (Number.isInteger(port) && port >= 0 && port < 65_536) return port;
	throw new InvalidArgumentError('The port must be an integer from 0 to 65535.');
}

void main(
	new Command('npm run demo --')
		.description(
			'Starts n8n with this package and an emulator of the service, runs the example workflows, saves the\n' +
				'videos in demo-output/ and keeps the editor running. Everything runs on this machine. What you build in\n' +
				'the editor is there again at the next start.',
		)
		.option('--once', 'stop after showing the results; keep nothing')
		.option('--fresh', 'delete what was built in an earlier demo, and start over')
		.option('--folder <path>', 'folder that keeps what you build', DEMO_FOLDER)
		.option(
			'--port <number>',
			"port of n8n's editor; by default that of the last start, or a free one",
			toPort,
		)
		.parse()
		.opts<DemoOptions>(),
);
