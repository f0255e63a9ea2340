/**
 * Stores what workflows of a version contain, by default of the version in package.json: `npm run saved -- 0.2.0`. Later
 * versions are tested with it, so run it before each release of a minor or major version.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';

import { ROOT } from '../lab/paths';
import { savedForms, shownParameters, unusedFields, type FormOwner } from './savedForms';
import { formOwners, SAVED_FOLDER, withoutSaved, type SavedRun } from './savedWorkflows';

/** One run per node, with what a person has to enter, and the requests that the service gets from it. */
const RUNS: readonly SavedRun[] = [
	{
		node: 'chatCompletion',
		parameters: { model: { __rl: true, mode: 'id', value: 'chat-m1' }, prompt: 'Hello' },
		requests: [
			{
				path: '/v1/chat/completions',
				body: { model: 'chat-m1', messages: [{ role: 'user', content: 'Hello' }] },
			},
		],
	},
	{
		node: 'functionCallingAgent',
		parameters: { model: { __rl: true, mode: 'id', value: 'chat-m1' }, prompt: 'Hello' },
		requests: [
			{
				path: '/v1/chat/completions',
				body: { model: 'chat-m1', messages: [{ role: 'user', content: 'Hello' }] },
			},
		],
	},
	{
		node: 'superAssistant',
		parameters: { appCode: 'demo-assistant', message: 'Hello' },
		requests: [
			{
				path: '/v1/chat/completions',
				body: { messages: [{ role: 'user', content: 'Hello' }] },
			},
		],
	},
	{
		node: 'createVideo',
		parameters: {
			model: { __rl: true, mode: 'list', value: 'video-m1' },
			prompt: 'A lighthouse at dawn',
		},
		requests: [
			{
				path: '/v1/videos/generations',
				body: { model: 'video-m1', prompt: 'A lighthouse at dawn' },
			},
		],
	},
	{
		node: 'waitForVideo',
		parameters: { taskId: 'no-such-task', waitMode: 'once' },
		requests: [{ path: '/v1/videos/tasks' }],
	},
];

async function writeSaved(): Promise<void> {
	const manifest = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as {
		version: string;
	};
	const version = process.argv[2] ?? manifest.version;
	const owners = await formOwners();
	checkRuns(owners);
	const forms = owners.map((owner) => savedForms(owner));
	const known = new Set<string>();
	const lines = owners.map(({ name, typeVersion, properties }, index) => {
		const all = forms.filter((_, other) => owners[other]!.properties === properties).flat();
		const unused = unusedFields(properties, all);
		if (unused.length > 0)
			throw new Error(`${name}: no form shows these fields: ${unused.join(', ')}`);
		// A tool has most forms of its node.
		const own = forms[index]!.map((form) => JSON.stringify(withoutSaved(form))).filter(
			(form) => !known.has(form),
		);
		for (const form of own) known.add(form);
		return `{"name":"${name}","typeVersion":${typeVersion},"forms":[\n${own.join(',\n')}\n]}`;
	});

	const file = join(SAVED_FOLDER, `${version}.json`);
	await mkdir(SAVED_FOLDER, { recursive: true });
	// One form per line, so that a difference shows which one has changed.
	await writeFile(
		file,
		`{"owners":[\n${lines.join(',\n')}\n],\n"runs":${JSON.stringify(RUNS, null, '\t')}}\n`,
	);
	console.log(`${file}: ${known.size} forms`);
}

/** Stops if n8n would not save the parameters of a run, because a field has another name now. */
function checkRuns(owners: readonly FormOwner[]): void {
	for (const { node, parameters } of RUNS) {
		const owner = owners.find(({ name }) => name === node)!;
		const shown = shownParameters(owner, parameters);
		for (const [name, value] of Object.entries(parameters)) {
			if (!isDeepStrictEqual(shown[name], value))
				throw new Error(`scripts/writeSaved.ts: ${node} has no field ${name}`);
		}
	}
}

writeSaved().catch((error: unknown) => {
	console.error((error as Error).message);
	process.exitCode = 1;
});
