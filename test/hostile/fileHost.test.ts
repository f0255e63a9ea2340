// @seconds 8
import type { IBinaryData } from 'n8n-workflow';

import { json } from '../support/scriptedServer';
import { thorough } from '../support/thorough';
import type { Exchange } from './exchange';
import { FILE, FILE_ATTACKS, SECOND, SMALL, type FileAttack } from './fileHost';
import { FILE_OPERATIONS, type FileOperation } from './fileOperations';
import { problemsOf, when } from './invariants';
import { startHostileServers, type HostileServers, type Scripts, type Seen } from './runCell';

/** The nodes that an attack is tried on: usually one in turn. */
function operationsFor({ chatsOnly = false }: FileAttack, row: number) {
	const possible = FILE_OPERATIONS.filter(
		({ title }) => !chatsOnly || title !== 'Wait for Video',
	);
	return thorough([possible[row % possible.length]!], possible);
}

const CELLS = FILE_ATTACKS.flatMap((attack, row) =>
	operationsFor(attack, row).map((operation) => ({ attack, operation })),
);

let servers: HostileServers;
beforeAll(async () => {
	servers = await startHostileServers();
});
afterAll(async () => {
	await servers.stop();
});

/** The service names the files, and the file host attacks. */
function attacked(operation: FileOperation, { act, links, text }: FileAttack): Scripts {
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

test.each(CELLS)(
	'$attack.title: $operation.title',
	async ({ attack, operation }) => {
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
