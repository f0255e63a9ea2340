// @seconds 20
/** What a service, and a file host, can do to every node. */
import type { IBinaryData } from 'n8n-workflow';

import { interrupt } from '../faults/observe';
import { OPERATIONS, waysFor, type Operation } from '../faults/operations';
import { json } from '../support/scriptedServer';
import { thorough } from '../support/thorough';
import {
	FILE,
	FILE_ATTACKS,
	FILE_OPERATIONS,
	type FileAttack,
	type FileOperation,
} from './fileHost';
import { isWell, problemsOf, when } from './invariants';
import { startHostileServers, type HostileServers, type Scripts, type Seen } from './runCell';
import { SERVICE_ATTACKS, type Attack } from './service';

/** The operations that an attack is tried on: usually one in turn, and a third of them for what quotes the key. */
function operationsFor({ on, everyWay = false }: Attack, row: number): readonly Operation[] {
	const all: readonly Operation[] = Object.values(OPERATIONS);
	const possible = all.filter((operation) => on?.(operation) ?? true);
	const usual = possible.filter((_, index) =>
		everyWay ? (row + index) % 3 === 0 : row % possible.length === index,
	);
	return thorough(usual, possible);
}

const CELLS = SERVICE_ATTACKS.flatMap((attack, row) =>
	operationsFor(attack, row).map((operation) => ({ attack, operation, row })),
);

let servers: HostileServers;
beforeAll(async () => {
	servers = await startHostileServers();
});
afterAll(async () => {
	await servers.stop();
});

test.each(CELLS)(
	'$attack.title: $operation.title',
	async ({ attack, operation, row }) => {
		const ways =
			attack.everyWay === true
				? waysFor(operation, Math.floor(row / 3))
				: operation.ways.slice(0, 1);
		for (const way of ways) {
			const seen = await servers.run(
				operation,
				{
					service: (time) =>
						interrupt(
							operation,
							attack.count ?? Infinity,
							(response, request, answer, index) => {
								attack.act({ response, request, answer, index, time });
							},
						),
				},
				way,
			);
			const problems = await problemsOf(seen, attack, way);
			expect([...problems, ...endProblems(attack, operation, seen)]).toStrictEqual([]);
		}
	},
	120_000,
);

/** What is wrong with the end that the attack must have. */
function endProblems({ ends }: Attack, operation: Operation, { outcome }: Seen): string[] {
	const isRight = ends === undefined || isWell(operation, outcome) === (ends === 'well');
	return when(!isRight, `does not end ${ends}: ${outcome.error?.message ?? ''}`);
}

test('each operation is attacked', () => {
	const attacked = new Set(CELLS.map(({ operation }) => operation.title));
	expect(attacked.size).toBe(Object.keys(OPERATIONS).length);
});

/** The nodes that an attack is tried on: usually one in turn. */
function downloadsFor({ chatsOnly = false }: FileAttack, row: number) {
	const possible = FILE_OPERATIONS.filter(
		({ title }) => !chatsOnly || title !== 'Wait for Video',
	);
	return thorough([possible[row % possible.length]!], possible);
}

const FILE_CELLS = FILE_ATTACKS.flatMap((attack, row) =>
	downloadsFor(attack, row).map((operation) => ({ attack, operation })),
);

/** The service names the file, and the file host attacks. */
function attacked(operation: FileOperation, { act, link, text }: FileAttack): Scripts {
	const answer = { isStream: false, pieces: [] };
	return {
		service: (_time, fileUrl) => {
			const named = link?.(fileUrl) ?? `${fileUrl}/film.mp4`;
			return (response) => {
				json(response, 200, operation.answer(named, text));
			};
		},
		files: (time) => (response, request, index) => {
			if (act === undefined) response.writeHead(404).end();
			else act({ response, request, answer, index, time });
		},
	};
}

test.each(FILE_CELLS)(
	'$attack.title: $operation.title',
	async ({ attack, operation }) => {
		const run: Parameters<HostileServers['run']>[0]['run'] = async (circumstances) =>
			await operation.run(circumstances, attack.options ?? {});
		const seen = await servers.run({ run }, attacked(operation, attack), 'stop');
		const files = filesOf(seen);
		const hasFile = files.length > 0;
		expect([
			...(await problemsOf(seen, attack, 'stop')),
			...files.flatMap(fileProblems),
			...when(seen.outcome.status !== 'success', 'the paid reply or task is lost'),
			...when(
				attack.ends !== undefined && hasFile !== (attack.ends === 'well'),
				hasFile ? 'there is a file' : 'the file is missing',
			),
		]).toStrictEqual([]);
	},
	120_000,
);

const filesOf = ({ outcome }: Seen): IBinaryData[] =>
	outcome.items.flatMap(({ binary = {} }) => Object.values(binary));

// eslint-disable-next-line no-control-regex -- these characters must not be in the name of a file
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2066-\u2069/\\]|^\.\.?$/;

/** A file is the one that the host has, whole, with a name that is safe on every system. */
function fileProblems({ data, fileName = '' }: IBinaryData): string[] {
	const bytes = Buffer.from(data, 'base64');
	return [
		...when(!FILE.equals(bytes), `a file of ${bytes.length} bytes that the host does not have`),
		...when(UNSAFE.test(fileName), `an unsafe name: ${JSON.stringify(fileName)}`),
		...when(Buffer.byteLength(fileName) > 200, `a name of ${fileName.length} characters`),
	];
}
