import { join } from 'node:path';

import { ROOT } from '../../lab/paths';
import { installAlone, loadMs, type InstalledPackage } from '../lab/installedPackage';
import { exactly, toFigure } from '../measure/figure';
import type { Question, Row } from '../question';
import { barPlot } from '../report/plots';

const REPEATS = { full: 10, quick: 3 };
const OURS = 'n8n-nodes-agent-video';

interface Peer {
	readonly name: string;
	/** Published version; the project itself without it. */
	readonly version?: string;
	readonly id: string;
	readonly nodes: number;
	readonly note: string;
}

/** Ours comes first. A further package is one more row. */
const PACKAGES: readonly Peer[] = [
	{ name: OURS, id: 'ours', nodes: 6, note: 'chat, agent, assistant, chat model, videos' },
	{
		name: 'n8n-nodes-gigachat',
		version: '1.8.3',
		id: 'gigachat',
		nodes: 4,
		note: 'chat with tools, chat model',
	},
	{
		name: 'n8n-nodes-deepseek-reasoner',
		version: '0.10.35',
		id: 'deepseek',
		nodes: 1,
		note: 'chat model that keeps reasoning',
	},
	{
		name: 'n8n-nodes-ai-orchestrator',
		version: '0.1.7',
		id: 'orchestrator',
		nodes: 1,
		note: 'chat',
	},
	{
		name: '@mendable/n8n-nodes-firecrawl',
		version: '2.1.2',
		id: 'firecrawl',
		nodes: 1,
		note: 'jobs that are polled',
	},
];

const KB = 1_000;

export const WEIGHT: Question = {
	id: 'weight',
	title: 'Weight',
	method: `Each package is installed by itself, as n8n installs community packages: without install scripts, and without the peer
dependencies that n8n brings. *Load* is the time of n8n's own loader for all nodes and credentials of the package in a fresh
process, after n8n-core and n8n-workflow; each process loads all packages, each time in another order. The peers are community packages for chat or for jobs that are polled; n8n's own OpenAI
nodes are part of n8n and cost no installation.`,
	run: async ({ quick, say }) => {
		const installed: InstalledPackage[] = [];
		for (const { name, version, id } of PACKAGES) {
			say(name);
			const spec = version === undefined ? undefined : `${name}@${version}`;
			installed.push(
				await installAlone(join(ROOT, '.cache', 'bench-packages', id), name, spec),
			);
		}
		say('loading');
		const loads = await loadTimes(installed, quick ? REPEATS.quick : REPEATS.full);
		const rows: Row[] = [];
		for (const [
			index,
			{ packedBytes, installedBytes, dependencies, version },
		] of installed.entries()) {
			const { name, nodes, note } = PACKAGES[index]!;
			rows.push({
				contender: `${name} ${version}`,
				note,
				figures: {
					nodes: exactly(nodes),
					packed: exactly(packedBytes / KB),
					installed: exactly(installedBytes / KB),
					dependencies: exactly(dependencies),
					load: await toFigure(loads[index]!),
				},
			});
		}
		const figure = (row: number, key: string) => rows[row]!.figures[key]!.median;
		return {
			columns: [
				{ key: 'nodes', title: 'nodes', digits: 0 },
				{ key: 'packed', title: 'packed (kB)', digits: 0 },
				{ key: 'installed', title: 'installed (kB)', digits: 0 },
				{ key: 'dependencies', title: 'dependencies', digits: 0 },
				{ key: 'load', title: 'load (ms)', digits: 0 },
			],
			rows,
			ratios: PACKAGES.slice(1).flatMap(({ id, name, nodes }, index) =>
				(['installed', 'load'] as const).map((key) => ({
					id: `weight-${key}-vs-${id}`,
					label: `${key}, against ${name}`,
					value: figure(0, key) / figure(index + 1, key),
					reason: `six nodes against ${nodes}; the file of each node has all that it needs`,
				})),
			),
			plot: barPlot(rows, { title: 'Loading the nodes', key: 'load', unit: 'ms' }),
		};
	},
};

/** By package: the times of every process. Who comes first changes, as it loads what others may share. */
async function loadTimes(
	installed: readonly InstalledPackage[],
	repeats: number,
): Promise<readonly number[][]> {
	const times: number[][] = installed.map(() => []);
	for (let turn = 0; turn < repeats; turn++) {
		const order = installed.map((_package, place) => (place + turn) % installed.length);
		const measured = await loadMs(order.map((index) => installed[index]!));
		for (const [place, index] of order.entries()) times[index]!.push(measured[place]!);
	}
	return times;
}
