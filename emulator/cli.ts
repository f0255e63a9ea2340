import { Command, InvalidArgumentError } from 'commander';
import { dialects } from './script/scriptStore';
import { startEmulator } from './startEmulator';

interface CliOptions {
	readonly port: number;
	readonly host: string;
	readonly allowHost?: readonly string[];
	readonly videoSeconds: number;
	readonly chunkMs?: number;
	readonly seed: number;
	readonly minimal?: boolean;
	readonly virtualClock?: boolean;
	readonly openai?: boolean;
	readonly script?: readonly string[];
	readonly quiet?: boolean;
}

/** Option parser for numbers from 0 to `max`. */
const numberOption =
	(max: number, integer: boolean) =>
	(text: string): number => {
		const value = Number(text);
		const fits = text.trim() !== '' && value >= 0 && value <= max;
		if (fits && (!integer || Number.isInteger(value))) return value;
		throw new InvalidArgumentError(
			`It must be ${integer ? 'an integer' : 'a number'} from 0 to ${max}.`,
		);
	};

/** Messages for errors at startup, by error code. */
const STARTUP_ERRORS: Readonly<Record<string, (options: CliOptions) => string>> = {
	EADDRINUSE: ({ port }) =>
		`Port ${port} is already in use. Choose another port with --port, or stop the program that uses it.`,
	EACCES: ({ port }) =>
		`This account is not allowed to listen on port ${port}. Choose a port above 1023.`,
	EADDRNOTAVAIL: ({ host }) => `${host} is not an address of this machine.`,
	ENOTFOUND: ({ host }) => `Unknown host: ${host}`,
};

async function run(options: CliOptions): Promise<void> {
	const { quiet, virtualClock, allowHost = [], script = [], ...rest } = options;
	const emulator = await startEmulator({
		...rest,
		allowedHosts: allowHost,
		scripts: script,
		clock: virtualClock ? 'virtual' : 'real',
		...(!quiet && { log: console.log }),
	});
	console.log(`Listening on ${emulator.url}`);

	for (const signal of ['SIGINT', 'SIGTERM'] as const) {
		process.once(signal, () => {
			void emulator.stop().then(() => process.exit(0));
		});
	}
}

const program = new Command('emulator')
	.description('Emulates the conversational agent and video generation service locally.')
	.option(
		'--port <number>',
		'port to listen on; 0 selects a free port',
		numberOption(65_535, true),
		8787,
	)
	.option('--host <address>', 'address to listen on', '127.0.0.1')
	.option(
		'--allow-host <names...>',
		'host names to accept besides localhost and the address that is connected to',
	)
	.option(
		'--video-seconds <number>',
		'maximum generation time of a video',
		numberOption(86_400, false),
		30,
	)
	.option(
		'--chunk-ms <number>',
		'delay between chunks of a stream (default: 20; with --virtual-clock 0)',
		numberOption(60_000, false),
	)
	.option(
		'--seed <number>',
		'the same seed and requests give the same responses',
		numberOption(2 ** 31, true),
		1,
	)
	.option('--minimal', 'respond with nothing beyond what the specification requires')
	.option('--virtual-clock', 'stop the clock; POST /__emulator/clock advances it')
	.option('--openai', 'also accept what clients of OpenAI send beyond the service')
	.option('--script <files...>', `scripted answers in YAML or JSON; or ${dialects().join(', ')}`)
	.option('--quiet', 'do not log requests');

const options = program.parse().opts<CliOptions>();
run(options).catch((error: unknown) => {
	const { code = '', message } = error as NodeJS.ErrnoException;
	console.error(STARTUP_ERRORS[code]?.(options) ?? message);
	process.exitCode = 1;
});
