import { Command, InvalidArgumentError } from 'commander';
import { startEmulator } from './startEmulator';

interface CliOptions {
	readonly port: number;
	readonly host: string;
	readonly videoSeconds: number;
	readonly chunkMs: number;
	readonly seed: number;
	readonly minimal?: boolean;
	readonly virtualClock?: boolean;
	readonly quiet?: boolean;
}

const number =
	(most: number, integer: boolean) =>
	(text: string): number => {
		const value = Number(text);
		const fits = text.trim() !== '' && value >= 0 && value <= most;
		if (fits && (!integer || Number.isInteger(value))) return value;
		throw new InvalidArgumentError(
			`It must be ${integer ? 'an integer' : 'a number'}, 0 to ${most}.`,
		);
	};

const PROBLEMS: Readonly<Record<string, (options: CliOptions) => string>> = {
	EADDRINUSE: ({ port }) =>
		`Port ${port} is already in use. Choose another with --port, or stop what uses it.`,
	EACCES: ({ port }) => `Port ${port} may not be used by this account. Choose one above 1023.`,
	EADDRNOTAVAIL: ({ host }) => `${host} is no address of this machine.`,
	ENOTFOUND: ({ host }) => `The host ${host} is not known.`,
};

async function run(options: CliOptions): Promise<void> {
	const { quiet, virtualClock, ...rest } = options;
	const emulator = await startEmulator({
		...rest,
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
	.description('The conversational agent and video generation service, on your own machine.')
	.option(
		'--port <number>',
		'port to listen on; 0 takes any free one',
		number(65_535, true),
		8787,
	)
	.option('--host <address>', 'address to listen on', '127.0.0.1')
	.option('--video-seconds <number>', 'longest time a video takes', number(86_400, false), 30)
	.option('--chunk-ms <number>', 'pause between chunks of a stream', number(60_000, false), 20)
	.option('--seed <number>', 'same seed, same answers', number(2 ** 31, true), 1)
	.option('--minimal', 'answer with the literal minimum of the specification')
	.option('--virtual-clock', 'time stands still until POST /__emulator/clock advances it')
	.option('--quiet', 'do not log requests');

const options = program.parse().opts<CliOptions>();
run(options).catch((error: unknown) => {
	const { code = '', message } = error as NodeJS.ErrnoException;
	console.error(PROBLEMS[code]?.(options) ?? message);
	process.exitCode = 1;
});
