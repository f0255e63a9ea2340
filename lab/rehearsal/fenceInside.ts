/**
 * Preloaded into the n8n of a rehearsal, and by it into each Node process that it starts: they reach the ports of this
 * machine that a file lists, and nothing else. What they try besides is written down and fails.
 */
import childProcess from 'node:child_process';
import dgram from 'node:dgram';
import dns from 'node:dns';
import { appendFileSync, readFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';
import { basename, join } from 'node:path';

const NAME = 'REHEARSAL_FENCE';
const HERE = '127.0.0.1';
const folder = process.env[NAME]!;
/** A task runner also reaches the n8n that has started it. */
const broker = process.env['N8N_RUNNERS_TASK_BROKER_URI'];

type Any = (...args: unknown[]) => unknown;

/** Writes down what was tried, and returns how it fails. */
function refuse(what: string): Error {
	appendFileSync(join(folder, 'refused'), `${what.replaceAll(/\s/g, ' ')}\n`);
	return Object.assign(new Error(`The rehearsal rejects ${what}`), { code: 'ERR_REHEARSAL' });
}

/** Replaces functions of an object. */
function replace(owner: object, names: RegExp, by: (original: Any, name: string) => Any): void {
	const functions = owner as Record<string, unknown>;
	for (const name of Object.getOwnPropertyNames(owner).filter((each) => names.test(each)))
		if (typeof functions[name] === 'function')
			functions[name] = by(functions[name] as Any, name);
}

interface Target {
	readonly path?: string | null;
	readonly host?: string;
	readonly port?: number | string;
}

/** Reads the arguments of `connect`, which Node itself may have put into a list. */
function targetOf([given, host]: readonly unknown[]): Target {
	const [first, second] = Array.isArray(given) ? (given as unknown[]) : [given, host];
	if (typeof first === 'object' && first !== null) return first;
	if (typeof first === 'string' && Number.isNaN(Number(first))) return { path: first };
	return { port: Number(first), ...(typeof second === 'string' && { host: second }) };
}

function isAllowed({ path, host, port }: Target): boolean {
	const ports = readFileSync(join(folder, 'allowed'), 'utf8').split('\n');
	if (broker !== undefined) ports.push(new URL(broker).port);
	// A host name is not looked up.
	return !path && host === HERE && ports.includes(String(port));
}

replace(net.Socket.prototype, /^connect$/, (connect) => {
	return function (this: net.Socket, ...args: unknown[]) {
		const target = targetOf(args);
		if (isAllowed(target)) return connect.apply(this, args);
		const { path, host = 'localhost', port } = target;
		const error = refuse(`a connection to ${path ?? `${host}:${port}`}`);
		const last = args.at(-1);
		// It fails as a name that cannot be looked up: later, when its listeners are there.
		const lookup = (_host: string, _options: object, done: (error: Error) => void) => {
			setImmediate(done, error);
		};
		const nowhere = [{ host: 'refused', port: 1, lookup }, typeof last === 'function' && last];
		return connect.apply(this, nowhere.filter(Boolean));
	};
});

replace(dgram.Socket.prototype, /^(?:connect|send)$/, () => () => {
	throw refuse('a datagram');
});

const byName = (original: Any) =>
	function (this: unknown, ...args: unknown[]) {
		const [name, last] = [args[0], args.at(-1)];
		if (net.isIP(String(name)) > 0) return original.apply(this, args);
		const error = refuse(`a look-up of ${String(name)}`);
		if (typeof last !== 'function') return Promise.reject(error);
		setImmediate(last as (error: Error) => void, error);
		return {};
	};
const NAMES = /^(?:lookup|resolve|reverse)/;
for (const api of [dns, dns.Resolver.prototype, dns.promises, dns.promises.Resolver.prototype])
	replace(api, NAMES, byName);

interface Spawned {
	file: string;
	envPairs: string[];
}

replace(childProcess.ChildProcess.prototype, /^spawn$/, (spawn) => {
	return function (this: unknown, given: unknown) {
		const options = given as Spawned;
		const program = basename(options.file);
		const set = options.envPairs.find((pair) => pair.startsWith('NODE_OPTIONS='));
		const own = `NODE_OPTIONS=${process.env['NODE_OPTIONS']} ${set?.slice(13) ?? ''}`;
		const others = options.envPairs.filter((pair) => pair !== set);
		// A program that does not exist fails as Node reports it.
		const started =
			program === 'node'
				? { envPairs: [...others, own, `${NAME}=${folder}`] }
				: { file: refuse(`the program ${program}`).message };
		return spawn.apply(this, [Object.assign(options, started)]);
	};
});
replace(childProcess, /Sync$/, () => () => {
	throw refuse('a program');
});
syncBuiltinESMExports();
