import type { IExecuteFunctions } from 'n8n-workflow';

/** An n8n context of exactly these members: any other use fails the test instead of passing unseen. */
export function strictContext(members: Partial<IExecuteFunctions>): IExecuteFunctions {
	return new Proxy(members as IExecuteFunctions, {
		get: (target, name) => {
			if (name in target) return Reflect.get(target, name) as unknown;
			throw new Error(`Unexpected use of ${String(name)}`);
		},
	});
}
