import { inspect } from 'node:util';

const METHODS = ['log', 'info', 'warn', 'error', 'debug', 'trace'] as const;

/** Records what this process prints until `stop` is called. */
export function recordOutput(): { readonly printed: unknown[]; stop(): void } {
	const printed: unknown[] = [];
	const record = (...args: unknown[]) => {
		printed.push(args);
		return true;
	};
	const spies = [
		...METHODS.map((method) => jest.spyOn(console, method).mockImplementation(record)),
		jest.spyOn(process.stdout, 'write').mockImplementation(record),
		jest.spyOn(process.stderr, 'write').mockImplementation(record),
	];
	return {
		printed,
		stop: () => {
			spies.forEach((spy) => {
				spy.mockRestore();
			});
		},
	};
}

/** Names the places that contain a secret, plain or encoded, including causes of errors and their properties. */
export function placesOf(secret: string, places: Readonly<Record<string, unknown>>): string[] {
	const forms = ['utf8', 'base64', 'hex'] as const;
	const spellings = forms.map((form) => Buffer.from(secret).toString(form).replace(/=+$/, ''));
	const all = { depth: Infinity, maxArrayLength: Infinity, maxStringLength: Infinity };
	return Object.entries(places)
		.filter(([, held]) => spellings.some((spelling) => inspect(held, all).includes(spelling)))
		.map(([place]) => place);
}
