import { join, relative } from 'node:path';

import { Command, InvalidArgumentError } from 'commander';

import { startEmulator } from '../../emulator/startEmulator';
import { buildPackage } from '../n8n/buildPackage';
import { chatTable, executionTable, invitation, videoTable } from './demoReport';
import { installLab } from '../n8n/installLab';
import { N8nClient, type WorkflowRef } from '../n8n/N8nClient';
import { ROOT } from '../paths';
import { EXAMPLE_CREDENTIAL, readExample, webhookIdOf } from '../n8n/readExample';
import { runBatch, saveVideos } from './runBatch';
import { runChat } from './runChat';
import { startN8n } from '../n8n/startN8n';
import { Running } from '../services/Running';
import { step } from '../services/step';
import { chatUrl } from '../n8n/streamChat';

interface DemoOptions {
	readonly once?: true;
	readonly port?: number;
}

const OUTPUT = join(ROOT, 'demo-output');
const KEY = 'demo-key';
/** Long enough to see the status of the tasks change. */
const VIDEO_SECONDS = 12;
const QUESTION = 'Give me one idea for a short video about the sea.';

const running = new Running();
let isStopping = false;
/** Exit code after Ctrl+C: an error until there is a result. */
let interruptedCode = 130;

/** Runs the demo from the setup to the results. What it starts keeps running. */
async function demo({ once, port = 0 }: DemoOptions): Promise<void> {
	await step('Prepare n8n', (showProgress) => installLab({ onProgress: showProgress }));
	await step('Build the package', buildPackage);
	const emulator = await step('Start the service emulator', async () =>
		running.keep(await startEmulator({ videoSeconds: VIDEO_SECONDS })),
	);
	const n8n = await step('Start n8n', async () => running.keep(await startN8n({ port })));
	const service = { url: emulator.url, key: KEY };
	const examples = {
		batch: await readExample('batch'),
		chat: await readExample('chat'),
		agent: await readExample('agent'),
	};

	const { client, batch, chat, agent } = await step('Sign in, import the workflows', async () => {
		const client = await N8nClient.signIn(n8n.url);
		await client.createCredential({
			name: EXAMPLE_CREDENTIAL,
			type: 'agentVideoApi',
			data: { baseUrl: service.url, apiKey: service.key },
		});
		const batch = await client.importWorkflow(examples.batch);
		const chat = await client.importWorkflow(examples.chat);
		const agent = await client.importWorkflow(examples.agent);
		await client.activate(chat);
		await client.activate(agent);
		return { client, batch, chat, agent };
	});

	const { execution, videos } = await step(
		`Run "${examples.batch.name}" in n8n`,
		async (showProgress) => {
			const execution = await runBatch(client, batch, { service, onProgress: showProgress });
			return { execution, videos: await saveVideos(client, execution, OUTPUT) };
		},
	);
	const url = chatUrl(n8n.url, webhookIdOf(examples.chat));
	const answer = await step(`Run "${examples.chat.name}" in n8n`, () =>
		runChat(client, chat, { url, question: QUESTION }),
	);

	for (const table of [executionTable(execution), videoTable(videos), chatTable(answer)]) {
		console.log(`\n${table}`);
	}
	console.log(`\nThe videos are saved in ${relative('', OUTPUT) || '.'}.`);
	if (once) return;

	const page = ({ id }: WorkflowRef) => `${n8n.url}/workflow/${id}`;
	const pages = {
		n8n: n8n.url,
		batch: page(batch),
		chat: page(chat),
		agent: page(agent),
		agentChat: chatUrl(n8n.url, webhookIdOf(examples.agent)),
	};
	console.log(`\n${invitation(pages)}`);
}

async function main(options: DemoOptions): Promise<void> {
	for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
		process.on(signal, () => {
			if (!isStopping) console.log('\nStopping …');
			isStopping = true;
			void running.stop().finally(() => process.exit(interruptedCode));
		});
	}
	try {
		await demo(options);
		interruptedCode = 0;
		if (options.once) await running.stop();
	} catch (error) {
		// After Ctrl+C a failure is expected.
		if (!isStopping) console.error(`\nThe demo failed: ${(error as Error).message}`);
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
				'videos in demo-output/ and keeps the editor running. Everything runs on this machine.',
		)
		.option('--once', 'stop after showing the results')
		.option(
			'--port <number>',
			"preferred port of n8n's editor; another one is used if it is taken",
			toPort,
		)
		.parse()
		.opts<DemoOptions>(),
);
