import type { IExecuteFunctions } from 'n8n-workflow';

/** An n8n context with only the given members: access to any other member throws. */
export function strictContext(members: Partial<IExecuteFunctions>): IExecuteFunctions {
	return new Proxy(members as IExecuteFunctions, {
		get: (target, name) => {
			if (name in target) return Reflect.get(target, name) as unknown;
			throw new Error(`Unexpected use of ${String(name)}`);
		},
	});
}
