import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import axios from 'axios';

import { freePort } from '../services/freePort';
import { installPackage } from './installPackage';
import { n8nEnvironment, type N8nProcess } from './n8nEnvironment';
import { N8N_HOME } from '../paths';
import { startProgram, type Program } from '../services/startProgram';

const START_LIMIT_MS = 120_000;

/**
 * What answers when n8n is ready. `/healthz` answers before the database is ready, and in n8n 1.x the other one
 * before what the editor calls, which a worker does not have.
 */
const READY_PATHS = {
	start: ['healthz/readiness', 'rest/settings'],
	other: ['healthz/readiness'],
} as const;

export interface N8nOptions {
	/** Folder for n8n's data. Without it a new one is made, and removed at the stop. */
	readonly userFolder?: string;
	/** Wanted TCP port; another one when it is taken. */
	readonly port?: number;
	/** What n8n is to do, with its flags; `start` by default. */
	readonly command?: readonly string[];
	/** Variables of its environment on top of the lab's own. */
	readonly settings?: Readonly<Record<string, string>>;
	/** Lines of its log to keep; some by default. */
	readonly keptLogLines?: number;
}

/** A running n8n. */
export interface N8n extends Program {
	/** Address without a trailing slash. */
	readonly url: string;
}

/**
 * Starts the lab's n8n with the built package in it, on the loopback address. It ends with this process at the latest.
 *
 * @throws Error with the end of n8n's log when it ends or is not ready after two minutes.
 */
export async function startN8n(options: N8nOptions = {}): Promise<N8n> {
	const userFolder = options.userFolder ?? (await mkdtemp(join(tmpdir(), 'n8n-lab-')));
	const removeFolder = async () => {
		if (options.userFolder === undefined)
			await rm(userFolder, { recursive: true, force: true });
	};
	try {
		await installPackage(userFolder);
		const port = await freePort(options.port);
		const n8n = await launch({ userFolder, port, brokerPort: await freePort() }, options);
		return {
			...n8n,
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

async function launch(settings: N8nProcess, options: N8nOptions): Promise<N8n> {
	const url = `http://127.0.0.1:${settings.port}`;
	const program = await startProgram(
		process.execPath,
		[
			'--require',
			join(__dirname, 'endWithParent.ts'),
			join(N8N_HOME, 'node_modules', 'n8n', 'bin', 'n8n'),
			...(options.command ?? ['start']),
		],
		{
			name: 'n8n',
			cwd: settings.userFolder,
			env: { ...n8nEnvironment(settings), ...options.settings },
			stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
			limitMs: START_LIMIT_MS,
			isReady: async () =>
				await isReady(url, READY_PATHS[options.command ? 'other' : 'start']),
			...(options.keptLogLines && { keptLines: options.keptLogLines }),
		},
	);
	return { url, ...program };
}

/** Whether an n8n process answers at all of these paths. */
async function isReady(url: string, paths: readonly string[]): Promise<boolean> {
	const options = { proxy: false, timeout: 2_000, validateStatus: () => true } as const;
	for (const path of paths) {
		const answer = await axios.get(`${url}/${path}`, options).catch(() => undefined);
		if (answer?.status !== 200) return false;
	}
	return true;
}
