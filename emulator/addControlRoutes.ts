import type { FastifyInstance } from 'fastify';
import ADVANCE_SCHEMA from './advanceSchema.json';
import type { Fault } from './faults/fault';
import SCRIPT_SCHEMA from './script/script.schema.json';
import type { EmulatedService } from './service';
import { taskStatus } from './video/taskStatus';

/** JSON schema of `POST /__emulator/faults`: a list of faults. */
export const FAULTS_SCHEMA = { type: 'array', items: SCRIPT_SCHEMA.definitions.fault };

/** The emulator's control API, which the real service does not have. `emulator/README.md` documents it. */
export function addControlRoutes(server: FastifyInstance, service: EmulatedService): void {
	const { journal, faults, clock, tasks } = service;

	server.get('/__emulator/journal', async () => journal.entries);
	server.delete('/__emulator/journal', async () => {
		journal.clear();
		return journal.entries;
	});

	server.get('/__emulator/faults', async () => faults.pending);
	server.post<{ Body: readonly Fault[] }>(
		'/__emulator/faults',
		{
			schema: { body: FAULTS_SCHEMA },
			preValidation: async (request) => {
				request.body = [request.body].flat();
			},
		},
		async (request) => {
			faults.add(...request.body);
			return faults.pending;
		},
	);
	server.delete('/__emulator/faults', async () => {
		faults.clear();
		return faults.pending;
	});

	server.get('/__emulator/clock', async () => ({ nowMs: clock.now() }));
	server.post<{ Body: { readonly advanceMs: number } }>(
		'/__emulator/clock',
		{ schema: { body: ADVANCE_SCHEMA } },
		async ({ body }) => {
			await clock.advance(body.advanceMs);
			return { nowMs: clock.now() };
		},
	);

	server.get('/__emulator/tasks', async () =>
		tasks.all.map((task) => ({ ...task, ...taskStatus(task, clock.now()) })),
	);
}
