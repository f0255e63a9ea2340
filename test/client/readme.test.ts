import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { compileFunction } from 'node:vm';

import ts from 'typescript';

import { serviceFor } from '../emulator/support/service';

const CLIENT = join(__dirname, '../../nodes/client');
const README = readFileSync(join(CLIENT, 'README.md'), 'utf8');

/** The code blocks of the README by the name of their file. */
const BLOCKS = new Map(
	[...README.matchAll(/^```ts (\S+)\.ts\n([\s\S]*?)^```$/gm)].map(([, name, code]) => [
		`./${name!}`,
		code!,
	]),
);

const service = serviceFor('all', { clock: 'real', videoSeconds: 0, chunkMs: 1 });

/** Runs a block as a module of the client. Returns what it exports, and what it prints. */
async function run(name: string) {
	const printed: unknown[][] = [];
	const exports: Record<string, unknown> = {};
	const { outputText } = ts.transpileModule(BLOCKS.get(name)!, {
		compilerOptions: { module: ts.ModuleKind.CommonJS, target: ts.ScriptTarget.ES2023 },
	});
	const blocks = new Map<string, unknown>();
	const imported = [...outputText.matchAll(/require\("(.+?)"\)/g)].map(([, path]) => path!);
	for (const path of imported) if (BLOCKS.has(path)) blocks.set(path, (await run(path)).exports);
	const main = compileFunction(`return (async () => {${outputText}})()`, [
		'require',
		'exports',
		'console',
		'process',
	]) as (...args: unknown[]) => Promise<void>;
	await main(
		(path: string) => blocks.get(path) ?? jest.requireActual<object>(join(CLIENT, path)),
		exports,
		{ log: (...values: unknown[]) => printed.push(values) },
		{ env: { SERVICE_URL: service.url, API_KEY: 'demo-key' } },
	);
	return { exports, printed };
}

test('the examples are complete: a host, a chat and a video', () => {
	expect([...BLOCKS.keys()]).toStrictEqual(['./host', './chat', './video']);
});

test('the example of a chat prints the reply while it arrives', async () => {
	const { printed } = await run('./chat');
	expect(printed.length).toBeGreaterThan(2);
	expect(printed.at(-1)).toStrictEqual([
		'stop',
		expect.objectContaining({ total_tokens: expect.any(Number) as number }),
	]);
});

test('the example of a video prints its URL', async () => {
	const { printed } = await run('./video');
	expect(printed).toStrictEqual([[expect.stringMatching(/^http.*\.mp4/)]]);
});
