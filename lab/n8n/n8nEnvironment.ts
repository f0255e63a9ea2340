import { existsSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';

import { N8N_HOME, OTHER_N8N } from '../paths';

/** What n8n takes over from this process: a machine's own n8n or proxy settings must not leak in. */
const INHERITED = ['HOME', 'LANG', 'LC_ALL', 'TMPDIR', 'TZ', 'USER'] as const;

/** The same for every n8n of the lab: local, quiet, without accounts. */
const FIXED = {
	N8N_LISTEN_ADDRESS: '127.0.0.1',
	N8N_HOST: '127.0.0.1',
	// The address is plain http, where a browser drops secure cookies.
	N8N_SECURE_COOKIE: 'false',
	N8N_DIAGNOSTICS_ENABLED: 'false',
	N8N_VERSION_NOTIFICATIONS_ENABLED: 'false',
	N8N_TEMPLATES_ENABLED: 'false',
	N8N_PERSONALIZATION_ENABLED: 'false',
	N8N_DYNAMIC_BANNERS_ENABLED: 'false',
	N8N_HIRING_BANNER_ENABLED: 'false',
	N8N_GRACEFUL_SHUTDOWN_TIMEOUT: '2',
	// So that an execution can be watched while it runs.
	EXECUTIONS_DATA_SAVE_ON_PROGRESS: 'true',
} as const;

/** The first asks the internet, the second would be the first page instead of the workflows. */
const UNWANTED_MODULES = ['mcp-registry', 'instance-ai'] as const;

/**
 * n8n 1.x keeps binary data in memory unless told otherwise, from where the service could not fetch a picture; and
 * without task runners its expressions do not see what a Code node gave.
 */
const OF_1 = { N8N_DEFAULT_BINARY_DATA_MODE: 'filesystem', N8N_RUNNERS_ENABLED: 'true' } as const;

/** What no two n8n processes of a machine may share. */
export interface N8nProcess {
	readonly userFolder: string;
	readonly port: number;
	readonly brokerPort: number;
}

/** The environment of one n8n process. */
export function n8nEnvironment(n8n: N8nProcess): NodeJS.ProcessEnv {
	const url = `http://127.0.0.1:${n8n.port}/`;
	return {
		...Object.fromEntries(INHERITED.map((name) => [name, process.env[name]])),
		// n8n starts its task runner as `node`.
		PATH: [dirname(process.execPath), process.env['PATH']].join(delimiter),
		...FIXED,
		...(OTHER_N8N?.startsWith('1.') ? OF_1 : {}),
		N8N_DISABLED_MODULES: UNWANTED_MODULES.filter(hasModule).join(','),
		N8N_USER_FOLDER: n8n.userFolder,
		N8N_PORT: String(n8n.port),
		N8N_RUNNERS_BROKER_PORT: String(n8n.brokerPort),
		N8N_EDITOR_BASE_URL: url,
		WEBHOOK_URL: url,
	};
}

/** n8n does not start with the name of a module that it does not have. */
function hasModule(name: string): boolean {
	return existsSync(join(N8N_HOME, 'node_modules', 'n8n', 'dist', 'modules', name));
}
