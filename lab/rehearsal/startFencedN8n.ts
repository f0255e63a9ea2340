import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { startRestartableN8n, type RestartableN8n } from '../n8n/restartableN8n';

/** An n8n that reaches nothing but what it is allowed to. */
export interface FencedN8n extends RestartableN8n {
	/** Lets it reach a server on this machine. */
	allow(url: string): Promise<void>;
	/** What it has tried to reach besides, each once. */
	refused(): Promise<readonly string[]>;
}

const PRELOADED = ['fenceInside.ts', 'limitRuns.ts'].map((file) => join(__dirname, file));
/** With it n8n reads an ID of the machine when it starts. */
const OF_N8N = 'the program sh';

/** Starts an n8n from which a workflow of a stranger reaches nobody, whatever its nodes and their code do. */
export async function startFencedN8n(): Promise<FencedN8n> {
	const folder = await mkdtemp(join(tmpdir(), 'n8n-fence-'));
	const [allowed, refused] = [join(folder, 'allowed'), join(folder, 'refused')];
	const removeFolder = async () => rm(folder, { recursive: true, force: true });
	for (const file of [allowed, refused]) await writeFile(file, '');
	try {
		const n8n = await startRestartableN8n({
			NODE_OPTIONS: PRELOADED.map((file) => `--require ${JSON.stringify(file)}`).join(' '),
			REHEARSAL_FENCE: folder,
		});
		return {
			...n8n,
			allow: async (url) => appendFile(allowed, `${new URL(url).port}\n`),
			refused: async () => {
				const lines = (await readFile(refused, 'utf8')).split('\n').filter(Boolean);
				return [...new Set(lines)].filter((line) => line !== OF_N8N);
			},
			stop: async () => {
				await n8n.stop();
				await removeFolder();
			},
		};
	} catch (error) {
		await removeFolder();
		throw error;
	}
}
