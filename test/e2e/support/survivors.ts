import {
	startEmulator,
	type Emulator,
	type EmulatorOptions,
} from '../../../emulator/startEmulator';
import type { N8nClient, WorkflowRef } from '../../../lab/n8n/N8nClient';
import { startRestartableN8n, type RestartableN8n } from '../../../lab/n8n/restartableN8n';
import type { Workflow } from '../../../lab/n8n/workflow';
import { inParallel } from '../../../lab/services/inParallel';
import { Running } from '../../../lab/services/Running';
import { createCredential, publish } from './session';

/** What a survivor works with. The emulator is its own, and so is the credential `Emulator`. */
export interface Place {
	readonly n8n: RestartableN8n;
	readonly client: N8nClient;
	readonly emulator: Emulator;
	/** Stops what the survivor has started. */
	readonly running: Running;
	/** Begins its prompts, and names its workflows. */
	readonly key: string;
	/** Saves a workflow and publishes it. */
	readonly publish: (drawn: Workflow) => Promise<WorkflowRef>;
}

/** Work that goes on over a kill of n8n. */
export interface Survivor {
	/** At each `yield` n8n is killed, the service has no faults any more, and n8n is started again. */
	readonly work: (place: Place) => AsyncGenerator<undefined, void>;
	/** Options of its emulator. By default a video is finished at its first poll. */
	readonly service?: EmulatorOptions;
	/** Whether the kill must hit it at the moment of its `yield`, as it does the last of these: they begin when the others wait for the kill. */
	readonly isTimed?: boolean;
}

/** Survivors that work in n8n at the same time, besides those that wait for the kill: more of them wait for each other. */
const AT_ONCE = 4;

/** The end of each survivor's work. */
export type Ends = Readonly<Record<string, PromiseSettledResult<void>>>;

/**
 * Lets all survivors work side by side in one n8n, which is killed for all of them at once: a start of n8n takes eight seconds
 * of a processor.
 */
export async function surviveKills(survivors: Readonly<Record<string, Survivor>>): Promise<Ends> {
	const running = new Running();
	try {
		const n8n = running.keep(await startRestartableN8n());
		const works = await Promise.all(
			Object.entries(survivors).map(async ([name, survivor], index) => {
				const place = await placeOf(survivor, index + 1, { n8n, running });
				return { name, place, survivor, steps: survivor.work(place) };
			}),
		);
		const ends: Record<string, PromiseSettledResult<void>> = {};
		const step = async ({ name, steps }: (typeof works)[number]) => {
			try {
				const { done } = await steps.next();
				if (done) ends[name] = { status: 'fulfilled', value: undefined };
			} catch (reason) {
				ends[name] = { status: 'rejected', reason };
			}
		};
		for (let left = works; left.length > 0; left = left.filter(({ name }) => !ends[name])) {
			if (left !== works) {
				await n8n.kill();
				for (const { place } of left) place.emulator.faults.clear();
				await n8n.start();
			}
			const others = left.filter(({ survivor }) => !survivor.isTimed);
			await inParallel(others, AT_ONCE, step);
			for (const timed of left.filter(({ survivor }) => survivor.isTimed)) await step(timed);
		}
		return ends;
	} finally {
		await running.stop();
	}
}

async function placeOf(
	{ service = { videoSeconds: 0.01 } }: Survivor,
	number: number,
	shared: Pick<Place, 'n8n' | 'running'>,
): Promise<Place> {
	const emulator = shared.running.keep(await startEmulator({ ...service, seed: number }));
	const client = shared.n8n.client.beside();
	await createCredential(client, 'Emulator', emulator.url);
	return {
		...{ ...shared, emulator, client },
		key: `kept-${number}`,
		publish: (drawn) => publish(client, drawn),
	};
}
