import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

import { assetPath } from '../assets';
import { parseScript, type ParsedScript } from './parseScript';
import { kindsOf, type ScriptedReply, type ScriptTarget, type When } from './script';

/** A reply that answers a request. */
export interface ChosenReply {
	readonly reply: ScriptedReply;
	/** Groups of the pattern, the first being the whole match. */
	readonly groups: readonly string[];
	/** File and line of the reply. */
	readonly source: string;
}

interface LoadedScript {
	readonly file: string;
	changedMs: number;
	script: ParsedScript;
	/** Number of requests for which the conditions of each reply held. */
	calls: number[];
}

const DIALECTS = assetPath('dialects');
const DEFAULT_PATHS = { task: '/v1/videos/generations', other: '/v1/chat/completions' } as const;

/** Names of the scripts that come with the emulator. */
export const dialects = (): readonly string[] =>
	readdirSync(DIALECTS).map((file) => file.replace(/\.yaml$/, ''));

/** Path of a script: a file, or the name of one that comes with the emulator. */
function findScript(name: string): string {
	const shipped = join(DIALECTS, `${name}.yaml`);
	if (existsSync(name)) return name;
	if (/^[\w-]+$/.test(name) && existsSync(shipped)) return shipped;
	throw new Error(`There is no script ${name}. Name a file, or one of ${dialects().join(', ')}.`);
}

const read = (file: string): ParsedScript => parseScript(readFileSync(file, 'utf8'), file);

const load = (name: string): LoadedScript => {
	const file = findScript(name);
	const script = read(file);
	return { file, changedMs: statSync(file).mtimeMs, script, calls: [] };
};

type Check = (when: When, target: ScriptTarget) => boolean;

/** Conditions that are compared with the request; `call` is counted. */
const CHECKS: readonly Check[] = [
	({ method = '' }, target) => method === '' || method.toUpperCase() === target.method,
	({ text = '' }, target) => target.text.toLowerCase().includes(text.toLowerCase()),
	({ pattern }, { text }) => pattern === undefined || new RegExp(pattern, 'iu').test(text),
	({ model }, target) => model === undefined || model === target.model,
	({ app }, target) => app === undefined || app === target.app,
	({ stream }, target) => stream === undefined || stream === target.stream,
	({ lastRole }, target) => lastRole === undefined || lastRole === target.lastRole,
	({ headers = {} }, target) =>
		Object.entries(headers).every(([name, text]) =>
			String(target.headers[name.toLowerCase()] ?? '').includes(text),
		),
	({ contains = '' }, { body }) => JSON.stringify(body ?? '').includes(contains),
	({ callsTool }, target) => callsTool === undefined || callsTool === target.callsTool(),
];

/** Whether a reply of a script is for a path. */
function isFor({ when, ...reply }: ScriptedReply, { paths }: ParsedScript, path: string): boolean {
	if (when?.path !== undefined) return path.startsWith(when.path);
	const [kind] = kindsOf(reply);
	return paths?.includes(path) ?? path === DEFAULT_PATHS[kind === 'task' ? 'task' : 'other'];
}

/** The scripts of the emulator. A script is read again with the first request after its file has changed. */
export class ScriptStore {
	private readonly loaded: readonly LoadedScript[];
	private readonly chosen = new WeakMap<object, ChosenReply>();

	/**
	 * @param names files, or names of scripts that come with the emulator
	 * @throws Error that names line and column
	 */
	constructor(
		names: readonly string[],
		private readonly log: (line: string) => void = () => undefined,
	) {
		this.loaded = names.map(load);
	}

	get isEmpty(): boolean {
		return this.loaded.length === 0;
	}

	/** Whether a response of a script may answer this path, whatever the key is. */
	covers(path: string): boolean {
		this.refresh();
		return this.loaded.some(({ script }) =>
			script.replies.some(
				(reply) => kindsOf(reply).includes('response') && isFor(reply, script, path),
			),
		);
	}

	/** Chooses the reply to a request. */
	choose(target: ScriptTarget): ChosenReply | undefined {
		this.refresh();
		// All are tried: each counts the requests for which its conditions hold.
		return this.loaded.flatMap((entry) => this.chooseIn(entry, target))[0];
	}

	/** Keeps the reply to a request for `find`. */
	keep(request: object, chosen: ChosenReply): void {
		this.chosen.set(request, chosen);
	}

	find(request: object): ChosenReply | undefined {
		return this.chosen.get(request);
	}

	private chooseIn({ script, calls }: LoadedScript, target: ScriptTarget): ChosenReply[] {
		return script.replies.flatMap((reply, index): ChosenReply[] => {
			const { when = {} } = reply;
			if (!isFor(reply, script, target.path)) return [];
			if (!CHECKS.every((holds) => holds(when, target))) return [];
			const call = (calls[index] ?? 0) + 1;
			calls[index] = call;
			if (when.call !== undefined && ![when.call].flat().includes(call)) return [];
			const match = new RegExp(when.pattern ?? '', 'iu').exec(target.text) ?? [];
			// A group that did not take part in the match is undefined, whatever its type says.
			const groups = [...match].map((group: string | undefined) => group ?? '');
			return [{ reply, groups, source: `${script.file}:${script.lines[index]}` }];
		});
	}

	/** Reads the scripts that have changed; one with an error is reported, and stays as it was. */
	private refresh(): void {
		for (const entry of this.loaded) {
			const changedMs = statSync(entry.file, { throwIfNoEntry: false })?.mtimeMs;
			if (changedMs === undefined || changedMs === entry.changedMs) continue;
			entry.changedMs = changedMs;
			try {
				entry.script = read(entry.file);
				entry.calls = [];
				this.log(`Read ${entry.file} again`);
			} catch (error) {
				this.log(`${(error as Error).message}\nThe script stays as it was.`);
			}
		}
	}
}
