import { readFile } from 'node:fs/promises';
import { cpus, loadavg, release, totalmem, type } from 'node:os';
import { join } from 'node:path';

import { N8N_HOME, ROOT } from '../../lab/paths';

/** Hardware, operating system and software versions of a run. */
export interface Machine {
	readonly processor: string;
	readonly memoryGb: number;
	readonly system: string;
	/** Load average of the last minute; above the number of cores, other work distorts the figures. */
	readonly load: number;
	readonly versions: Readonly<Record<string, string>>;
}

/** Packages whose versions affect the figures, by the folder that contains them. */
const COMPARED = [
	[ROOT, ['openai', 'ai', 'eventsource-parser']],
	[N8N_HOME, ['n8n', 'n8n-nodes-base', '@n8n/n8n-nodes-langchain', '@langchain/openai']],
] as const;

/** Describes this machine. */
export async function describeMachine(): Promise<Machine> {
	const [processor] = cpus();
	const own = await versionIn(ROOT);
	const versions: [string, string][] = [
		['n8n-nodes-agent-video', own],
		['Node', process.version],
	];
	for (const [folder, names] of COMPARED) {
		for (const name of names) {
			versions.push([name, await versionIn(join(folder, 'node_modules', name))]);
		}
	}
	return {
		processor: `${cpus().length} × ${processor?.model.trim() ?? 'unknown'}`,
		memoryGb: Math.round(totalmem() / 2 ** 30),
		system: `${type()} ${release()}`,
		load: Math.round(loadavg()[0]! * 10) / 10,
		versions: Object.fromEntries(versions),
	};
}

async function versionIn(folder: string): Promise<string> {
	const manifest = await readFile(join(folder, 'package.json'), 'utf8').catch(() => '{}');
	return (JSON.parse(manifest) as { version?: string }).version ?? 'not installed';
}
