import { randomBytes } from 'node:crypto';

import { EMULATED_CHAT_MODELS } from '../../emulator/chat/models';
import type { Emulator } from '../../emulator/startEmulator';
import type { N8nClient, WorkflowRef } from '../n8n/N8nClient';
import {
	BEARER_CREDENTIAL,
	EXAMPLE_CREDENTIAL,
	EXAMPLES,
	SMTP_CREDENTIAL,
} from '../n8n/readExample';
import type { KeptDemo } from './keptDemo';
import { listExamples, START_HERE, startHere } from './startHere';

/** API key of the emulator. */
const KEY = 'demo-key';

/** The examples whose public chat page the demo offers or uses. */
const ACTIVE: readonly string[] = [EXAMPLES.chat.file, EXAMPLES.agent.file];

/** The demo's workflows by file name, and Start Here. */
export interface DemoWorkflows {
	readonly byFile: Readonly<Record<string, WorkflowRef>>;
	readonly startHere: WorkflowRef;
}

/**
 * Creates the credentials and imports the examples, except those that an earlier start of a kept demo has imported: what
 * a person has changed or deleted stays so.
 *
 * @param mailPort TCP port of the mail server.
 */
export async function setUpWorkflows(
	client: N8nClient,
	kept: KeptDemo | undefined,
	{ emulator, mailPort }: { readonly emulator: Emulator; readonly mailPort: number },
): Promise<DemoWorkflows> {
	await client.ensureCredential({
		name: EXAMPLE_CREDENTIAL,
		type: 'agentVideoApi',
		data: {
			baseUrl: emulator.url,
			apiKey: KEY,
			chatModels: { model: EMULATED_CHAT_MODELS.map(({ code }) => ({ code })) },
		},
	});
	await client.ensureCredential({
		name: SMTP_CREDENTIAL,
		type: 'smtp',
		data: { host: '127.0.0.1', port: mailPort, secure: false, disableStartTls: true },
	});
	// Nobody knows this token: a person who publishes the example enters another one.
	await client.ensureCredential({
		name: BEARER_CREDENTIAL,
		type: 'httpBearerAuth',
		data: { token: randomBytes(24).toString('base64url') },
	});

	const examples = await listExamples();
	const existing = new Map<string, WorkflowRef>(
		(await client.workflows()).map((ref) => [ref.id, ref]),
	);
	const ids: Record<string, string> = { ...kept?.memory.workflows };
	const keep = async (file: string, ref: WorkflowRef) => {
		existing.set(ref.id, ref);
		ids[file] = ref.id;
		await kept?.remember({ workflows: ids });
	};
	const missing = examples.filter(({ file }) => ids[file] === undefined);
	for (const { file, workflow } of missing) {
		const ref = await client.importWorkflow(workflow);
		if (ACTIVE.includes(file)) await client.activate(ref);
		await keep(file, ref);
	}

	const present = Object.fromEntries(Object.entries(ids).filter(([, id]) => existing.has(id)));
	if (missing.length > 0 || present[START_HERE] === undefined) {
		// It names the new examples; the old one stays in the archive.
		const old = present[START_HERE];
		if (old !== undefined) await client.archive(old);
		await keep(START_HERE, await client.importWorkflow(startHere(examples, present)));
	}
	const byFile = Object.fromEntries(
		Object.entries(ids).flatMap(([file, id]) => {
			const ref = existing.get(id);
			return ref ? [[file, ref] as const] : [];
		}),
	);
	return { byFile, startHere: byFile[START_HERE]! };
}
