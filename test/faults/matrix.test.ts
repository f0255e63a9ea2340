// @seconds 8
import { body } from './answers';
import { checkEnding } from './checkEnding';
import { EXPECTATIONS, NONE } from './expectations';
import { FAULTS, type FaultId } from './faults';
import { OPERATION_IDS, OPERATIONS, waysFor, type Operation, type OperationId } from './operations';
import { startServers, type Servers } from './runCell';
import { thorough } from '../support/thorough';

const VIDEOS: readonly OperationId[] = ['createVideo', 'waitForVideo'];
const isStreamed = (id: OperationId) => OPERATIONS[id].answers.at(-1)!.isStream;
/** Where the response is a stream, and where it is a body: the same client reads it for several nodes. */
const CHATS = [true, false].map((streamed) =>
	OPERATION_IDS.filter((id) => !VIDEOS.includes(id) && isStreamed(id) === streamed),
);

/** The operations that meet a fault: usually those of videos, and two chats in turn. */
const operationsFor = (row: number) =>
	thorough([...VIDEOS, ...CHATS.map((ids) => ids[row % ids.length]!)], OPERATION_IDS);

const CELLS = (Object.keys(FAULTS) as FaultId[]).flatMap((fault, row) =>
	operationsFor(row).flatMap((id) => {
		const ending = EXPECTATIONS[fault][id];
		const operation: Operation = OPERATIONS[id];
		return ending === NONE ? [] : [{ row, fault: FAULTS[fault], operation, ending }];
	}),
);

let servers: Servers;
beforeAll(async () => {
	servers = await startServers();
}, 180_000);
afterAll(async () => {
	await servers.stop();
});

test.each(CELLS)(
	'$fault.title: $operation.title',
	async ({ row, fault, operation, ending }) => {
		// Each operation comes in every third or fourth row.
		for (const way of waysFor(operation, Math.floor(row / 4))) {
			const seen = await servers.run(operation, fault, way);
			checkEnding(ending, operation, seen, way);
		}
	},
	60_000,
);

test('nginx compresses the responses', async () => {
	servers.answer(body({ status: 'processing' }));
	const response = await fetch(servers.nginxUrl, { headers: { 'accept-encoding': 'gzip' } });
	expect(response.headers.get('content-encoding')).toBe('gzip');
	expect(await response.json()).toStrictEqual({ status: 'processing' });
});
