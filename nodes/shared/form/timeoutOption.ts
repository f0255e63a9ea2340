import type { CallLimits } from '../../client/http/retry';
import type { NodeContext } from '../run/nodeContext';
import { numberOption, optionGroup } from './options';

const SECONDS = { unit: 'Seconds', min: 0.1, max: 86_400 } as const;

/** The timeouts of a call as options of a node: between two pieces of data, and of the whole call. */
export function timeoutOptions(defaultSeconds: { readonly idle: number; readonly total: number }) {
	const { property, options } = optionGroup('Timeouts', 'timeouts', {
		timeout: numberOption('Timeout', {
			...SECONDS,
			help: 'Idle timeout: how long a call may go without receiving any data. Data that keeps arriving resets it; then Maximum Duration ends the call.',
			default: defaultSeconds.idle,
		}),
		maximumDuration: numberOption('Maximum Duration', {
			...SECONDS,
			help: 'Total timeout: how long a call to the service may take, with its retries, even if data keeps arriving. Timeout limits only the time without data.',
			default: defaultSeconds.total,
		}),
	});
	return {
		property,
		/** @throws InputError when one of them is out of range. */
		read: (context: NodeContext, itemIndex: number): CallLimits => ({
			idleTimeoutMs: options.timeout.read(context, itemIndex) * 1000,
			limitMs: options.maximumDuration.read(context, itemIndex) * 1000,
		}),
	};
}
