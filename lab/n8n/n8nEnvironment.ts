import { existsSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';

import { N8N_HOME, ROOT } from '../paths';

/** Variables that n8n inherits from this process. No others: n8n or proxy settings of the machine must not apply. */
const INHERITED = ['HOME', 'LANG', 'LC_ALL', 'TMPDIR', 'TZ', 'USER'] as const;

/**
 * Settings of every n8n of the lab: reachable from this machine only, and no telemetry or promotions. How executions are
 * run and saved stays at n8n's defaults, as in an installation that nobody has configured; a test that needs another
 * setting passes it to `startN8n`.
 */
const FIXED = {
	N8N_LISTEN_ADDRESS: '127.0.0.1',
	N8N_HOST: '127.0.0.1',
	// A browser drops secure cookies of an http address.
	N8N_SECURE_COOKIE: 'false',
	N8N_DIAGNOSTICS_ENABLED: 'false',
	N8N_VERSION_NOTIFICATIONS_ENABLED: 'false',
	N8N_TEMPLATES_ENABLED: 'false',
	N8N_PERSONALIZATION_ENABLED: 'false',
	N8N_DYNAMIC_BANNERS_ENABLED: 'false',
	N8N_HIRING_BANNER_ENABLED: 'false',
} as const;

/** The first sends requests to the internet, the second replaces the start page. */
const UNWANTED_MODULES = ['mcp-registry', 'instance-ai'] as const;

/** Settings that must be unique for every n8n process on a machine. */
export interface N8nProcess {
	readonly userFolder: string;
	readonly port: number;
	readonly brokerPort: number;
}

/** The environment variables of one n8n process. */
export function n8nEnvironment(n8n: N8nProcess): NodeJS.ProcessEnv {
	const url = `http://127.0.0.1:${n8n.port}/`;
	return {
		...Object.fromEntries(INHERITED.map((name) => [name, process.env[name]])),
		// n8n starts its task runner as `node`.
		PATH: [dirname(process.execPath), process.env['PATH']].join(delimiter),
		...FIXED,
		N8N_DISABLED_MODULES: UNWANTED_MODULES.filter(hasModule).join(','),
		// Each start compiles thousands of files otherwise.
		NODE_COMPILE_CACHE: join(ROOT, '.cache', 'node-compile'),
		N8N_USER_FOLDER: n8n.userFolder,
		N8N_PORT: String(n8n.port),
		N8N_RUNNERS_BROKER_PORT: String(n8n.brokerPort),
		N8N_EDITOR_BASE_URL: url,
		WEBHOOK_URL: url,
	};
}

/** n8n does not start if it is told to disable a module that it does not have. */
function hasModule(name: string): boolean {
	return existsSync(join(N8N_HOME, 'node_modules', 'n8n', 'dist', 'modules', name));
}
