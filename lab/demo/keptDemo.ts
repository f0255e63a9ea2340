import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { OWNER, useKeptPassword } from '../n8n/owner';
import { OTHER_N8N, ROOT } from '../paths';

/** Where the demo keeps what was built in it; each n8n version has its own folder. */
export const DEMO_FOLDER = join(
	ROOT,
	'.cache',
	OTHER_N8N === undefined ? 'demo' : `demo-${OTHER_N8N}`,
);

/** What the demo remembers, beside what n8n saves. */
interface Memory {
	/** Password of the owner's account. */
	readonly password: string;
	/** TCP ports, so that open pages and saved addresses stay valid. */
	readonly n8nPort?: number;
	readonly emulatorPort?: number;
	/** IDs of the imported workflows, by file name. */
	readonly workflows: Readonly<Record<string, string>>;
	/** Whether the examples were run, and their results shown. */
	readonly hasShownExamples?: boolean;
}

/** Files of the folder: readable for this account only, because of the password. */
const MEMORY_FILE = 'demo.json';
const LOCK_FILE = 'running.pid';
const PRIVATE = { mode: 0o600 } as const;

/** The folder of the demo, used by one process at a time. */
export class KeptDemo {
	private constructor(
		readonly folder: string,
		/** Whether something was kept from an earlier start. */
		readonly isContinued: boolean,
		private known: Memory,
	) {}

	/**
	 * Opens the folder, and creates it at the first time.
	 *
	 * @param options.fresh Deletes what the folder has.
	 * @returns Undefined if another demo that is running uses it.
	 */
	static async open(
		folder: string,
		{ fresh = false }: { readonly fresh?: boolean },
	): Promise<KeptDemo | undefined> {
		if (await isInUse(join(folder, LOCK_FILE))) return undefined;
		if (fresh) await rm(folder, { recursive: true, force: true });
		await mkdir(folder, { recursive: true, mode: 0o700 });
		await writeFile(join(folder, LOCK_FILE), String(process.pid), PRIVATE);

		const file = join(folder, MEMORY_FILE);
		const isContinued = existsSync(file);
		const memory: Memory = isContinued
			? (JSON.parse(await readFile(file, 'utf8')) as Memory)
			: { password: OWNER.password, workflows: {} };
		useKeptPassword(memory.password);
		const kept = new KeptDemo(folder, isContinued, memory);
		await kept.remember({ password: OWNER.password });
		return kept;
	}

	get memory(): Memory {
		return this.known;
	}

	/** n8n's user folder. */
	get userFolder(): string {
		return join(this.folder, 'n8n');
	}

	/** Saves changes at once: the demo may be stopped at any time. */
	async remember(changes: Partial<Memory>): Promise<void> {
		this.known = { ...this.known, ...changes };
		const text = JSON.stringify(this.known, null, 2);
		await writeFile(join(this.folder, MEMORY_FILE), text, PRIVATE);
	}

	/** Lets another process use the folder. */
	async stop(): Promise<void> {
		await rm(join(this.folder, LOCK_FILE), { force: true });
	}
}

/** Whether the process that a lock file names is a demo that is running. */
async function isInUse(lockFile: string): Promise<boolean> {
	const text = await readFile(lockFile, 'utf8').catch(() => '');
	const pid = Number(text);
	if (!(pid > 0) || pid === process.pid) return false;
	try {
		process.kill(pid, 0);
	} catch {
		return false;
	}
	// After a restart of the machine, another program may have the ID.
	const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => 'demo');
	return command.includes('demo');
}
