import dns from 'node:dns';
import { isIP, Socket } from 'node:net';

/** The addresses of a name, for each of its lookups; the last one repeats. An empty list: the name does not resolve. */
export type Lookups = readonly (readonly string[])[];

/** Names and addresses that do not exist, and what was done with them. */
export interface ImitatedNetwork {
	/** Sets the addresses of a name. */
	resolve(name: string, ...lookups: Lookups): void;
	/** The address of every connection that was opened, in order. */
	readonly contacted: string[];
	restore(): void;
}

type LookupDone = (error: Error | null, result?: unknown, family?: number) => void;

/**
 * Imitates DNS and the network: names resolve as the test says, and a connection to any address ends at the same port of
 * 127.0.0.1. So nothing outside this machine is contacted, and a connection that must not be opened is seen.
 */
export function imitateNetwork(): ImitatedNetwork {
	const names = new Map<string, (readonly string[])[]>();
	const contacted: string[] = [];

	const lookup = jest.spyOn(dns, 'lookup');
	lookup.mockImplementation(((name: string, options: { all?: boolean }, done: LookupDone) => {
		const lookups = names.get(name) ?? [isIP(name) === 0 ? [] : [name]];
		const found = (lookups.length > 1 ? lookups.shift() : lookups[0])!;
		const addresses = found.map((address) => ({ address, family: isIP(address) }));
		process.nextTick(() => {
			const [first] = addresses;
			if (first === undefined) {
				const unknown = new Error(`getaddrinfo ENOTFOUND ${name}`);
				done(Object.assign(unknown, { code: 'ENOTFOUND' }));
			} else if (options.all === true) done(null, addresses);
			else done(null, first.address, first.family);
		});
	}) as unknown as typeof dns.lookup);

	const prototype = Socket.prototype as unknown as { connect: (...args: unknown[]) => unknown };
	const realConnect = prototype.connect;
	prototype.connect = function (this: Socket, ...args: unknown[]) {
		const normalized = args[0];
		const isNormalized = Array.isArray(normalized);
		const options = (isNormalized ? (normalized as unknown[])[0] : normalized) as {
			host?: string;
			lookup?: (name: string, options: object, done: LookupDone) => void;
		};
		const { host = 'localhost' } = options;
		if (isIP(host) !== 0) {
			contacted.push(host);
			options.host = '127.0.0.1';
		} else {
			const resolve = options.lookup ?? dns.lookup;
			options.lookup = (name, how, done) => {
				resolve(name, { ...how, all: true }, (error, found) => {
					if (error !== null) {
						done(error);
						return;
					}
					contacted.push((found as { address: string }[])[0]!.address);
					if ('all' in how && how.all === true) {
						done(null, [{ address: '127.0.0.1', family: 4 }]);
					} else done(null, '127.0.0.1', 4);
				});
			};
		}
		return realConnect.apply(this, args);
	};

	return {
		resolve: (name, ...lookups) => names.set(name, [...lookups]),
		contacted,
		restore() {
			lookup.mockRestore();
			prototype.connect = realConnect;
		},
	};
}
