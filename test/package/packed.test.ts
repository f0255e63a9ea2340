import { execFileSync } from 'node:child_process';
import {
	existsSync,
	globSync,
	mkdirSync,
	mkdtempSync,
	readFileSync,
	rmSync,
	statSync,
	symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

import { ROOT } from '../../lab/paths';
import { NODE_NAMES } from '../../scripts/nodePages';
import { packPackage } from '../../scripts/packPackage';

interface Manifest {
	readonly dependencies?: object;
	readonly n8n: { readonly nodes: string[]; readonly credentials: string[] };
}

/** Limit of the packed file, in bytes: n8n loads what it unpacks at every start. */
const MAX_SIZE = 155_000;

let folder: string;
let size: number;
let packed: string;
let files: string[];

beforeAll(async () => {
	folder = mkdtempSync(join(tmpdir(), 'packed-'));
	const file = await packPackage(folder);
	({ size } = statSync(file));
	execFileSync('tar', ['-xzf', file, '-C', folder]);
	packed = join(folder, 'package');
	files = globSync('**/*', { cwd: packed }).filter((path) =>
		statSync(join(packed, path)).isFile(),
	);
	// n8n provides n8n-workflow and nothing else.
	mkdirSync(join(folder, 'node_modules'));
	symlinkSync(
		dirname(require.resolve('n8n-workflow/package.json')),
		join(folder, 'node_modules', 'n8n-workflow'),
	);
});
afterAll(() => {
	rmSync(folder, { recursive: true, force: true });
});

const manifest = () => JSON.parse(readFileSync(join(packed, 'package.json'), 'utf8')) as Manifest;

test('publishes only the build and the documents of the package', () => {
	const others = files.filter((file) => !file.startsWith('dist/'));
	expect(others.sort()).toStrictEqual(['LICENSE', 'README.md', 'package.json']);
	expect(files.filter((file) => !/\.(js|svg|json|md)$|LICENSE/.test(file))).toStrictEqual([]);
});

test('the packed file is small, and its manifest is that of a user', () => {
	expect(size).toBeLessThan(MAX_SIZE);
	expect(manifest()).not.toHaveProperty('devDependencies');
	expect(manifest()).not.toHaveProperty('scripts');
});

test('code that several nodes use is packed once', () => {
	const scripts = files.filter((file) => file.endsWith('.js'));
	const texts = scripts.map((file) => readFileSync(join(packed, file), 'utf8'));
	// A text of a library, whose names are shortened, and a class of the package.
	for (const shared of ['invalid-retry', 'ServiceError=class']) {
		expect(texts.join('').split(shared)).toHaveLength(2);
	}
});

test('the package has no runtime dependencies', () => {
	expect(Object.keys(manifest().dependencies ?? {})).toStrictEqual([]);
});

test('every node and credential loads with n8n-workflow alone, and has its icons and codex', () => {
	const { n8n } = manifest();
	const script = `
		const out = {};
		for (const file of ${JSON.stringify([...n8n.nodes, ...n8n.credentials])}) {
			for (const Type of Object.values(require(${JSON.stringify(packed)} + '/' + file))) {
				const instance = new Type();
				const { name, icon, outputs = [], outputNames = [] } = instance.description ?? instance;
				out[file] = { name, icons: Object.values(icon), outputs: Array.isArray(outputs) ? outputs.length : 0, outputNames };
			}
		}
		console.log(JSON.stringify(out));
	`;
	const loaded = JSON.parse(
		execFileSync(process.execPath, ['-e', script], { cwd: folder, encoding: 'utf8' }),
	) as Record<string, { name: string; icons: string[]; outputs: number; outputNames: string[] }>;

	expect(Object.values(loaded).map(({ name }) => name)).toStrictEqual([
		...NODE_NAMES.map((name) => `${name[0]!.toLowerCase()}${name.slice(1)}`),
		'agentVideoApi',
	]);
	for (const [file, { icons, outputs, outputNames }] of Object.entries(loaded)) {
		for (const icon of icons) {
			expect(existsSync(resolve(packed, dirname(file), icon.replace('file:', '')))).toBe(
				true,
			);
		}
		if (outputs > 1) expect(outputNames).toHaveLength(outputs);
	}
	for (const file of n8n.nodes) {
		const codex = JSON.parse(
			readFileSync(join(packed, file.replace(/\.js$/, '.json')), 'utf8'),
		) as { node: string; subcategories: { AI: string[] } };
		// The editor's node search omits AI nodes that are not root nodes.
		expect(codex.subcategories.AI).toContain('Root Nodes');
		expect(codex.node).toBe(`n8n-nodes-agent-video.${loaded[file]!.name}`);
		// A node without a main output, as the chat model, has no fields.
		const schema = join(packed, dirname(file), '__schema__', 'v1.0.0.json');
		expect([file, existsSync(schema)]).toStrictEqual([file, !file.includes('ChatModel')]);
	}
});

test("n8n's community package scanner reports nothing for the sources and the published files", () => {
	const script = join(ROOT, 'test', 'support', 'scanPackage.mjs');
	// With NODE_ENV=test, one lint plugin treats every file as one of its own test files.
	const { NODE_ENV: _, ...env } = process.env;
	const found = execFileSync(process.execPath, [script, ROOT, packed], { encoding: 'utf8', env });
	expect(JSON.parse(found)).toStrictEqual({
		sources: { passed: true },
		packed: { passed: true },
	});
}, 60_000);
