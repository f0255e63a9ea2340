import type { IBinaryData } from 'n8n-workflow';

import { json } from '../support/scriptedServer';
import type { Exchange } from './exchange';
import { FILE, FILE_ATTACKS, SECOND, SMALL, type FileAttack } from './fileHost';
import { FILE_OPERATIONS, type FileOperation } from './fileOperations';
import { problemsOf, when } from './invariants';
import { printMatrix } from './printMatrix';
import { startHostileServers, type HostileServers, type Scripts, type Seen } from './runCell';

type Downloading = Extract<FileOperation, { run: unknown }>;

const nameOf = (attack: FileAttack, operation: FileOperation) =>
	`${attack.title}: ${operation.title}`;
const CELLS = FILE_ATTACKS.flatMap((attack) =>
	FILE_OPERATIONS.map((operation) => ({ attack, operation })),
);

/** Why the attack is none for this node; undefined if it is one. */
function skipped(attack: FileAttack, operation: FileOperation): string | undefined {
	if ('downloadsNothing' in operation) return operation.downloadsNothing;
	const isVideo = operation.title === 'Wait for Video';
	return attack.chatsOnly === true && isVideo ? 'the service names one file' : undefined;
}

const results = new Map<string, string>();
let servers: HostileServers;
beforeAll(async () => {
	servers = await startHostileServers();
});
afterAll(async () => {
	await servers.stop();
	printMatrix(
		FILE_OPERATIONS.map(({ title }) => title),
		FILE_ATTACKS.map((attack) => [
			attack.title,
			FILE_OPERATIONS.map((operation) => {
				const reason = skipped(attack, operation);
				const result = results.get(nameOf(attack, operation)) ?? '';
				return reason === undefined ? { result } : { skipped: reason };
			}),
		]),
	);
});

/** The service names the files, and the file host attacks. */
function attacked(operation: Downloading, { act, links, text }: FileAttack): Scripts {
	return {
		service: (hosts) => (response) => {
			const named = links?.(hosts) ?? [`${hosts.fileUrl}/film.mp4`];
			json(response, 200, operation.answer(named, text?.(hosts)));
		},
		files: (hosts) => (response, request, index) => {
			const { time, insidePort } = hosts;
			const answer = { isStream: false, pieces: [] };
			const exchange: Exchange = {
				response,
				request,
				answer,
				index,
				time,
				insidePort,
				hosts,
			};
			if (act === undefined) response.writeHead(404).end();
			else act(exchange);
		},
	};
}

const runs = CELLS.flatMap(({ attack, operation }) =>
	'run' in operation && skipped(attack, operation) === undefined
		? [[nameOf(attack, operation), { attack, operation }] as const]
		: [],
);

test.each(runs)(
	'%s',
	async (name, { attack, operation }) => {
		results.set(name, '✗');
		const run: Parameters<HostileServers['run']>[0]['run'] = async (circumstances) =>
			await operation.run(circumstances, attack.options ?? {});
		const seen = await servers.run({ run }, attacked(operation, attack), 'stop');
		const files = filesOf(seen);
		const isWell = files.length > 0;
		const { maxRequests } = attack;
		const bounds = {
			...attack,
			...(maxRequests && { maxRequests: maxRequests + (operation.freePolls ?? 0) }),
		};
		expect([
			...(await problemsOf(seen, bounds, 'stop')),
			...files.flatMap(fileProblems),
			...when(seen.outcome.status !== 'success', 'the paid reply or task is lost'),
			...when(
				attack.ends !== undefined && isWell !== (attack.ends === 'well'),
				isWell ? 'there is a file' : 'the file is missing',
			),
		]).toStrictEqual([]);
		results.set(name, isWell ? 'file' : 'no file');
	},
	120_000,
);

const filesOf = ({ outcome }: Seen): IBinaryData[] =>
	outcome.items.flatMap(({ binary = {} }) => Object.values(binary));

// eslint-disable-next-line no-control-regex -- these characters must not be in the name of a file
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2066-\u2069/\\]|^\.\.?$/;

/** A file is one that the host has, whole, with a name that is safe on every system. */
function fileProblems({ data, fileName = '' }: IBinaryData): string[] {
	const bytes = Buffer.from(data, 'base64');
	const known = [FILE, SECOND, SMALL].some((file) => file.equals(bytes));
	return [
		...when(!known, `a file of ${bytes.length} bytes that the host does not have`),
		...when(UNSAFE.test(fileName), `an unsafe name: ${JSON.stringify(fileName)}`),
		...when(Buffer.byteLength(fileName) > 200, `a name of ${fileName.length} characters`),
	];
}

test('every cell was run, or is skipped with a reason', () => {
	const missing = CELLS.filter(
		({ attack, operation }) =>
			!results.has(nameOf(attack, operation)) &&
			(skipped(attack, operation) ?? '').length <= 10,
	);
	expect(missing).toStrictEqual([]);
});
