import { join } from 'node:path';

import { ROOT } from '../../lab/paths';
import { installAlone, loadMs, type InstalledPackage } from '../n8n/installedPackage';
import { exactFigure, toFigure } from '../measure/figure';
import type { Question, Row } from '../question';

const REPEATS = { full: 10, quick: 3 };
const OURS = 'n8n-nodes-agent-video';

interface Peer {
	readonly name: string;
	/** Published version; missing for this project. */
	readonly version?: string;
	readonly id: string;
	readonly nodes: number;
	readonly note: string;
}

/** This package comes first. Another package is one more row. */
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
		note: 'chat model that keeps the reasoning',
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
		note: 'polled jobs',
	},
];

const KB = 1_000;
const LABELS = { installed: 'installed size', load: 'load time' } as const;

export const WEIGHT: Question = {
	id: 'weight',
	title: 'Size and load time',
	method: `Each package is installed as n8n does: without install scripts and peer dependencies. *Load* is the time of n8n's loader in a new
process that has n8n-core and n8n-workflow. The alternatives are community packages for chat or for polled jobs.`,
	run: async ({ quick, onProgress }) => {
		const installed: InstalledPackage[] = [];
		for (const { name, version, id } of PACKAGES) {
			onProgress(name);
			const spec = version === undefined ? undefined : `${name}@${version}`;
			installed.push(
				await installAlone(join(ROOT, '.cache', 'bench-packages', id), name, spec),
			);
		}
		onProgress('loading');
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
					nodes: exactFigure(nodes),
					packed: exactFigure(packedBytes / KB),
					installed: exactFigure(installedBytes / KB),
					dependencies: exactFigure(dependencies),
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
					label: `${LABELS[key]}, vs. ${name}`,
					value: figure(0, key) / figure(index + 1, key),
					reason: `${PACKAGES[0]!.nodes} nodes, the other package has ${nodes}; all are one bundle`,
				})),
			),
		};
	},
};

/** Load times by package. The order rotates: the first package also loads modules that later ones share. */
async function loadTimes(
	installed: readonly InstalledPackage[],
	repeats: number,
): Promise<readonly number[][]> {
	const times: number[][] = installed.map(() => []);
	for (let round = 0; round < repeats; round++) {
		const order = installed.map((_package, place) => (place + round) % installed.length);
		const measured = await loadMs(order.map((index) => installed[index]!));
		for (const [place, index] of order.entries()) times[index]!.push(measured[place]!);
	}
	return times;
}
