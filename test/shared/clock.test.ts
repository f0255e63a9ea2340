import { n8nClock } from '../../nodes/shared/engine/context';
import { strictContext } from '../support/strictContext';
import { FAILURE } from '../support/failureTexts';

const contextWith = (signal: AbortSignal) =>
	strictContext({ getExecutionCancelSignal: () => signal });

test('a sleep ends as soon as the execution is canceled', async () => {
	const controller = new AbortController();
	const sleep = n8nClock(contextWith(controller.signal)).sleep(3_600_000);
	controller.abort();
	await expect(sleep).rejects.toMatchObject({
		kind: 'canceled',
		message: FAILURE.canceled,
	});
});

test('a sleep in a canceled execution rejects at once', async () => {
	const sleep = n8nClock(contextWith(AbortSignal.abort())).sleep(3_600_000);
	await expect(sleep).rejects.toMatchObject({ kind: 'canceled' });
});

test('a sleep of 0 ms ends at once', async () => {
	await n8nClock(contextWith(new AbortController().signal)).sleep(0);
});
