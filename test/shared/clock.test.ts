import { n8nClock } from '../../nodes/shared/run/host';
import { strictContext } from '../support/strictContext';

const contextWith = (signal: AbortSignal) =>
	strictContext({ getExecutionCancelSignal: () => signal });

test('a nap ends as soon as the execution is cancelled', async () => {
	const controller = new AbortController();
	const nap = n8nClock(contextWith(controller.signal)).sleep(3_600_000);
	controller.abort();
	await expect(nap).rejects.toMatchObject({
		kind: 'cancelled',
		message: 'The execution was canceled',
	});
});

test('a nap on a cancelled execution does not begin', async () => {
	const nap = n8nClock(contextWith(AbortSignal.abort())).sleep(3_600_000);
	await expect(nap).rejects.toMatchObject({ kind: 'cancelled' });
});

test('a nap of no time is over at once', async () => {
	await n8nClock(contextWith(new AbortController().signal)).sleep(0);
});
