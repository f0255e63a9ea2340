import { rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';

import axios from 'axios';

import { freePort } from '../services/freePort';
import { installPackage } from './installPackage';
import { n8nEnvironment, type N8nProcess } from './n8nEnvironment';
import { N8N_HOME } from '../paths';
import { startProgram, type Program } from '../services/startProgram';
import { newUserFolder } from './userFolder';

/** A shared machine may be twenty times slower. */
const START_LIMIT_MS = 240_000;

/**
 * Paths and the statuses that they answer with when n8n is ready. `/healthz` does so before the database is ready. A
 * worker has no REST API; without the editor, n8n has no settings for it, and asks to sign in.
 */
const READY = {
	editor: { 'healthz/readiness': 200, 'rest/settings': 200 },
	api: { 'healthz/readiness': 200, 'rest/login': 401 },
	worker: { 'healthz/readiness': 200 },
} as const;

export interface N8nOptions {
	/** Folder for n8n's data. By default a temporary one, which is removed when n8n stops. */
	readonly userFolder?: string;
	/** TCP port; a free one by default. */
	readonly port?: number;
	/** n8n's command with its flags; `start` by default. */
	readonly command?: readonly string[];
	/** Additional environment variables. */
	readonly settings?: Readonly<Record<string, string>>;
	/** Whether the package is installed; true by default. */
	readonly withPackage?: boolean;
	/**
	 * Whether n8n serves its editor; true by default. It costs a third of a start: n8n writes all files of the editor again.
	 * Webhooks, chats and forms do not need it.
	 */
	readonly editor?: boolean;
	/** Number of log lines to keep. */
	readonly keptLogLines?: number;
}

/** A running n8n. */
export interface N8n extends Program {
	/** Base URL without a trailing slash. */
	readonly url: string;
}

/**
 * Starts the lab's n8n on the loopback address, by default with the built package installed. It stops when this process ends.
 *
 * @throws Error if the port is taken; with the end of n8n's log if it exits or is not ready after four minutes.
 */
export async function startN8n(options: N8nOptions = {}): Promise<N8n> {
	const { withPackage = true } = options;
	// A test of the installation begins with what a person begins with.
	const userFolder = options.userFolder ?? (await newUserFolder({ migrated: withPackage }));
	const isTemporary = options.userFolder === undefined;
	// If this process ends now, there may be no n8n yet that would remove the folder.
	const removeAtExit = () => {
		rmSync(userFolder, { recursive: true, force: true });
	};
	if (isTemporary) process.once('exit', removeAtExit);
	const removeFolder = async () => {
		if (!isTemporary) return;
		await rm(userFolder, { recursive: true, force: true });
		process.off('exit', removeAtExit);
	};
	try {
		if (withPackage) await installPackage(userFolder);
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
	const { editor = true, command } = options;
	const ready = command ? READY.worker : editor ? READY.editor : READY.api;
	const program = await startProgram(
		process.execPath,
		[
			'--require',
			join(__dirname, 'endWithParent.ts'),
			join(N8N_HOME, 'node_modules', 'n8n', 'bin', 'n8n'),
			...(command ?? ['start']),
		],
		{
			name: 'n8n',
			cwd: settings.userFolder,
			env: {
				...n8nEnvironment(settings),
				...(!editor && { N8N_DISABLE_UI: 'true' }),
				...(options.userFolder === undefined && {
					LAB_TEMPORARY_FOLDER: settings.userFolder,
					LAB_PARENT: String(process.pid),
				}),
				...options.settings,
			},
			stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
			limitMs: START_LIMIT_MS,
			isReady: async () => await isReady(url, ready),
			...(options.keptLogLines && { keptLines: options.keptLogLines }),
		},
	);
	return { url, ...program };
}

/** Whether n8n answers all of these paths with their statuses. */
async function isReady(url: string, statuses: Readonly<Record<string, number>>): Promise<boolean> {
	const options = { proxy: false, timeout: 10_000, validateStatus: () => true } as const;
	for (const [path, status] of Object.entries(statuses)) {
		const answer = await axios.get(`${url}/${path}`, options).catch(() => undefined);
		if (answer?.status !== status) return false;
	}
	return true;
}
