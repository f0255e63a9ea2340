import { Command, InvalidArgumentError, Option } from 'commander';
import { assetPath } from './assets';
import CLI from './cliOptions.json';
import { compareRecording } from './record/compare';
import { startRecorder } from './record/recorder';
import { dialects } from './script/scriptStore';
import { startEmulator, type Emulator, type EmulatorOptions } from './startEmulator';

type FileOption = 'record' | 'upstream' | 'replay' | 'compare';
interface CliOptions extends EmulatorOptions, Readonly<Partial<Record<FileOption, string>>> {
	readonly port: number;
	readonly host: string;
	readonly allowHost?: readonly string[];
	readonly virtualClock?: boolean;
	readonly script?: readonly string[];
	readonly quiet?: boolean;
}

interface OptionRow {
	readonly flags: string;
	readonly about: string;
	readonly default?: number | string;
	/** Of a number from 0. */
	readonly max?: number;
	readonly integer?: boolean;
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

/** Starts what the options ask for; undefined if there is nothing to stop. */
async function start(options: CliOptions): Promise<Pick<Emulator, 'url' | 'stop'> | undefined> {
	const { record, upstream = '', replay, compare, allowHost: allowedHosts = [] } = options;
	const shared = { ...options, allowedHosts, ...(!options.quiet && { log: console.log }) };
	if (record !== undefined) {
		if (!URL.canParse(upstream))
			throw new Error('--record needs the address of a service in --upstream.');
		return await startRecorder({ ...shared, file: record, upstream });
	}
	if (compare !== undefined) {
		const differences = await compareRecording(compare, options);
		console.log(differences.join('\n') || 'The emulator answers alike.');
		return undefined;
	}
	const replayed = replay === undefined ? [] : [replay, assetPath('script', 'unrecorded.yaml')];
	return await startEmulator({
		...shared,
		scripts: [...replayed, ...(options.script ?? [])],
		clock: options.virtualClock ? 'virtual' : 'real',
	});
}

async function run(options: CliOptions): Promise<void> {
	const emulator = await start(options);
	if (!emulator) return;
	console.log(`Listening on ${emulator.url}`);

	for (const signal of ['SIGINT', 'SIGTERM'] as const) {
		process.once(signal, () => {
			void emulator.stop().then(() => process.exit(0));
		});
	}
}

const program = new Command('emulator').description(
	'Emulates the conversational agent and video generation service locally.',
);
const ROWS: readonly OptionRow[] = CLI.options;
for (const { flags, about, max, integer = false, default: value } of ROWS) {
	const option = new Option(flags, about.replace('{dialects}', dialects().join(', ')));
	if (max !== undefined) option.argParser(numberOption(max, integer));
	program.addOption(value === undefined ? option : option.default(value));
}

/** Messages for errors at startup, by error code. */
const STARTUP_ERRORS: Readonly<Record<string, string>> = CLI.errors;
const options = program.parse().opts<CliOptions>();
run(options).catch((error: unknown) => {
	const { code = '', message } = error as NodeJS.ErrnoException;
	const values: Readonly<Record<string, unknown>> = { ...options };
	const text = STARTUP_ERRORS[code] ?? message;
	console.error(text.replace(/\{(\w+)\}/g, (_whole, name: string) => String(values[name])));
	process.exitCode = 1;
});
