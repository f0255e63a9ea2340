import type { Emulator, EmulatorOptions } from '../../../emulator/startEmulator';
import type { Execution } from '../../../lab/n8n/execution';
import type { N8nClient, WorkflowRef } from '../../../lab/n8n/N8nClient';
import { EXAMPLE_CREDENTIAL } from '../../../lab/n8n/readExample';
import type { Workflow } from '../../../lab/n8n/workflow';
import { Running } from '../../../lab/services/Running';
import {
	createCredential,
	publish,
	RUN_LIMIT_MS,
	SET_UP_LIMIT_MS,
	startSession,
	type Session,
} from './session';

/** What every n8n of the tests has, however it was started. */
interface Parts {
	readonly emulator: Emulator;
	readonly client: N8nClient;
}

/** The session of a test file. Its parts are there in the tests, and in hooks that are declared later. */
export type FileSession<T extends Parts = Session> = T & {
	/** Keeps a resource that the file has started, and stops it behind the last test. */
	readonly keep: Running['keep'];
	/** Creates a credential for a server. */
	credential(name: string, baseUrl: string, apiKey?: string): Promise<void>;
	/** Saves a workflow and publishes it. */
	publish(workflow: Workflow): Promise<WorkflowRef>;
	/**
	 * Executes a workflow from its node Start, and waits for the end. One that is not saved yet is saved first.
	 *
	 * @param destination The node of *Execute step*; without it the whole workflow runs.
	 */
	execute(workflow: Workflow | WorkflowRef, destination?: string): Promise<Execution>;
};

/** A session for the file that calls this, see useSessionOf. */
export function useSession(
	options: EmulatorOptions = {},
	credentials?: readonly string[],
): FileSession {
	return useSessionOf((running) => startSession(running, options), credentials);
}

/**
 * A session for the file, or block, that calls this. Its emulator has an empty journal and no faults when a test begins.
 *
 * @param start Starts what the session has, and keeps it.
 * @param credentials Names of the credentials for the emulator; by default `Emulator` and that of the examples.
 */
export function useSessionOf<T extends Parts>(
	start: (running: Running) => Promise<T>,
	credentials: readonly string[] = ['Emulator', EXAMPLE_CREDENTIAL],
): FileSession<T> {
	const running = new Running();
	const session = {
		credential: async (...credential) => {
			await createCredential(session.client, ...credential);
		},
		keep: (resource) => running.keep(resource),
		publish: (workflow) => publish(session.client, workflow),
		execute: async (workflow, destination) => {
			const { client } = session;
			const ref = 'versionId' in workflow ? workflow : await client.importWorkflow(workflow);
			return await client.waitForExecution(await client.run(ref, 'Start', destination));
		},
	} as FileSession<T>;

	beforeAll(async () => {
		Object.assign(session, await start(running));
		for (const name of credentials) await session.credential(name, session.emulator.url);
	}, SET_UP_LIMIT_MS);

	beforeEach(() => {
		session.emulator.journal.clear();
		session.emulator.faults.clear();
	});

	afterAll(async () => {
		await running.stop();
	}, RUN_LIMIT_MS);

	return session;
}
