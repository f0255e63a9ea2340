import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import type { IConnections, INode } from 'n8n-workflow';

import { startEmulator, type Emulator } from '../../emulator/startEmulator';
import { EXAMPLE_CREDENTIAL } from '../../lab/n8n/readExample';
import { ROOT } from '../../lab/paths';
import { allItems, NODE_TYPES, runWorkflow, type Wires } from '../support/engine';

const README = readFileSync(join(ROOT, 'README.md'), 'utf8');

let emulator: Emulator;

beforeAll(async () => {
	emulator = await startEmulator({ videoSeconds: 1 });
});
afterAll(async () => {
	await emulator.stop();
});

test("the README's workflow to paste makes a video", async () => {
	const [, json] = /```json\n(.*?)```/s.exec(README)!;
	const { nodes, connections } = JSON.parse(json!) as {
		nodes: INode[];
		connections: IConnections;
	};
	const wires: Wires = Object.fromEntries(
		Object.entries(connections).map(([name, { main }]) => [
			name,
			main!.map((targets) => (targets ?? []).map(({ node }) => node)),
		]),
	);
	const ours = nodes.filter(({ type }) => type in NODE_TYPES);
	const first = wires['Start']![0]![0]!;
	const result = await runWorkflow(
		ours.map((node) => ({
			...node,
			id: node.name,
			credentials: { agentVideoApi: { id: '1', name: EXAMPLE_CREDENTIAL } },
		})),
		wires,
		first,
		{ credential: { baseUrl: emulator.url, apiKey: 'demo-key' } },
	);
	expect(result.error).toBeUndefined();
	const [videos = []] = allItems(result, ours.at(-1)!.name);
	expect(
		videos.map(({ binary = {} }) => Object.values(binary).map(({ mimeType }) => mimeType)),
	).toStrictEqual([['video/mp4']]);
});
