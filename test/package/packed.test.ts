/** The package as npm publishes it: its files, what n8n loads of them, and the texts that a person reads or reaches. */
import { execFile, execFileSync, spawnSync } from 'node:child_process';
import {
	cpSync,
	existsSync,
	globSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	rmSync,
	statSync,
	symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';

import { build } from 'esbuild';

import { ROOT } from '../../lab/paths';
import { NODE_NAMES, pageOf } from '../../scripts/nodePages';
import { packPackage } from '../../scripts/packPackage';
import { anchorsOf } from './pages';

interface Manifest {
	readonly version: string;
	readonly homepage: string;
	readonly dependencies?: object;
	readonly n8n: { readonly nodes: string[]; readonly credentials: string[] };
}

interface Loaded {
	readonly name: string;
	readonly icons: readonly string[];
	readonly documentationUrl?: string;
}

/** Limit of the packed file, in bytes: n8n loads what it unpacks at every start. */
const MAX_SIZE = 158_500;

const read = (...path: readonly string[]) => readFileSync(join(...path), 'utf8');
const json = <T>(...path: readonly string[]) => JSON.parse(read(...path)) as T;

const { version, homepage } = json<Manifest>(ROOT, 'package.json');

let folder: string;
let size: number;
let packed: string;
let files: readonly string[];
let manifest: Manifest;
let loaded: Readonly<Record<string, Loaded>>;
let scanned: Promise<string>;

beforeAll(async () => {
	folder = mkdtempSync(join(tmpdir(), 'packed-'));
	const file = await packPackage(folder);
	({ size } = statSync(file));
	execFileSync('tar', ['-xzf', file, '-C', folder]);
	packed = join(folder, 'package');
	files = globSync('**/*', { cwd: packed }).filter((path) =>
		statSync(join(packed, path)).isFile(),
	);
	manifest = json<Manifest>(packed, 'package.json');
	// n8n provides n8n-workflow and nothing else.
	mkdirSync(join(folder, 'node_modules'));
	symlinkSync(
		dirname(require.resolve('n8n-workflow/package.json')),
		join(folder, 'node_modules', 'n8n-workflow'),
	);
	// The scanner takes as long as all other tests: it runs beside them.
	const script = join(ROOT, 'test', 'support', 'scanPackage.mjs');
	// With NODE_ENV=test, one lint plugin treats every file as one of its own test files.
	const { NODE_ENV: _, ...env } = process.env;
	scanned = promisify(execFile)(process.execPath, [script, ROOT, packed], { env }).then(
		({ stdout }) => stdout,
	);
	// Its failure is that of the test that awaits it.
	scanned.catch(() => undefined);
	loaded = load();
});
afterAll(() => {
	rmSync(folder, { recursive: true, force: true });
});

test('publishes only the build and the documents of the package', () => {
	const others = files.filter((file) => !file.startsWith('dist/'));
	expect(others.toSorted()).toStrictEqual(['LICENSE', 'README.md', 'package.json']);
	expect(files.filter((file) => !/\.(js|svg|json|md)$|LICENSE/.test(file))).toStrictEqual([]);
});

test('the packed file is small, and its manifest is that of a user: no runtime dependencies', () => {
	expect(size).toBeLessThan(MAX_SIZE);
	expect(manifest).not.toHaveProperty('devDependencies');
	expect(manifest).not.toHaveProperty('scripts');
	expect(Object.keys(manifest.dependencies ?? {})).toStrictEqual([]);
});

test('code that several nodes use is packed once', () => {
	const scripts = files.filter((file) => file.endsWith('.js'));
	const texts = scripts.map((file) => read(packed, file));
	// A text of a library, whose names are shortened, and a class of the package.
	for (const shared of ['invalid-retry', 'ServiceError=class']) {
		expect(texts.join('').split(shared)).toHaveLength(2);
	}
});

/** The nodes and the credential, by their files, as a process loads them that has n8n-workflow alone. */
function load() {
	const { nodes, credentials } = manifest.n8n;
	const script = `
		const out = {};
		for (const file of ${JSON.stringify([...nodes, ...credentials])}) {
			for (const Type of Object.values(require(${JSON.stringify(packed)} + '/' + file))) {
				const instance = new Type();
				const { name, icon, documentationUrl } = instance.description ?? instance;
				out[file] = { name, icons: Object.values(icon), documentationUrl };
			}
		}
		console.log(JSON.stringify(out));
	`;
	return JSON.parse(
		execFileSync(process.execPath, ['-e', script], { cwd: folder, encoding: 'utf8' }),
	) as Record<string, Loaded>;
}

test('every node and credential loads with n8n-workflow alone, and has its icons and codex', () => {
	const { n8n } = manifest;
	expect(Object.values(loaded).map(({ name }) => name)).toStrictEqual([
		...NODE_NAMES.map((name) => `${name[0]!.toLowerCase()}${name.slice(1)}`),
		'agentVideoApi',
	]);
	for (const [file, { icons }] of Object.entries(loaded)) {
		const paths = icons.map((icon) =>
			resolve(packed, dirname(file), icon.replace('file:', '')),
		);
		// A light and a dark one.
		expect(new Set(paths).size).toBe(2);
		expect(paths.filter((path) => !existsSync(path))).toStrictEqual([]);
	}
	for (const file of n8n.nodes) {
		const codex = json<{
			node: string;
			categories: string[];
			subcategories: { AI: string[] };
		}>(packed, file.replace(/\.js$/, '.json'));
		expect(codex.categories).toContain('AI');
		// The editor's node search omits AI nodes that are not root nodes.
		expect(codex.subcategories.AI).toContain('Root Nodes');
		expect(codex.node).toBe(`n8n-nodes-agent-video.${loaded[file]!.name}`);
		// A node without a main output, as the chat model, has no fields.
		const schema = join(packed, dirname(file), '__schema__', 'v1.0.0.json');
		expect([file, existsSync(schema)]).toStrictEqual([file, !file.includes('ChatModel')]);
	}
});

test('every bundled library has its name, version and license text in a packed file', async () => {
	const { metafile } = await build({
		entryPoints: [...manifest.n8n.nodes, ...manifest.n8n.credentials].map((file) =>
			file.replace(/^dist\//, '').replace(/\.js$/, '.ts'),
		),
		absWorkingDir: ROOT,
		outdir: 'dist',
		bundle: true,
		write: false,
		metafile: true,
		logLevel: 'silent',
		platform: 'node',
		external: ['n8n-workflow', '@n8n/ai-node-sdk'],
	});
	const inputs = Object.keys(metafile.inputs);
	const PACKAGE = /^.*node_modules[/\\](?:@[^/\\]+[/\\])?[^/\\]+/;
	const libraries = new Set(inputs.flatMap((file) => PACKAGE.exec(file)?.[0] ?? []));
	expect(libraries.size).toBeGreaterThan(0);
	const notices = read(packed, 'dist', 'THIRD-PARTY-NOTICES.md');
	const flat = notices.replace(/\s+/g, ' ');
	for (const library of libraries) {
		const { name, version: of } = json<{ name: string; version: string }>(
			...[ROOT, library, 'package.json'],
		);
		expect(notices).toContain(`## ${name} ${of}\n`);
		const section = flat.slice(flat.indexOf(`## ${name} ${of}`)).split(' ## ')[0]!;
		expect(section).toMatch(/Copyright \(c\) .*Permission is hereby granted/i);
		for (const file of readdirSync(join(ROOT, library)))
			if (/^licen[cs]e/i.test(file))
				expect(section).toContain(read(ROOT, library, file).trim().replace(/\s+/g, ' '));
	}
});

describe('the texts', () => {
	/** Address of a file of the repository at the tag of this version, with an optional heading. */
	const AT_TAG = new RegExp(`^${homepage}/(?:blob|raw)/v${version}/([^#]+)(?:#(.+))?$`);
	let readme: string;
	let targets: readonly string[];
	beforeAll(() => {
		readme = read(packed, 'README.md');
		targets = [...readme.matchAll(/\]\(([^)]+)\)|(?:src|srcset|href)="([^"]+)"/g)].map(
			([, link, source]) => link ?? source!,
		);
	});

	/** Whether the file of the repository, or the heading of this page, exists. Other addresses are not asked. */
	function leadsSomewhere(target: string): boolean {
		if (target.startsWith('#')) return anchorsOf(readme).includes(target.slice(1));
		if (!target.startsWith(`${homepage}/blob`) && !target.startsWith(`${homepage}/raw`))
			return target.startsWith('https://');
		const [, path, heading] = AT_TAG.exec(target) ?? [];
		if (path === undefined || !existsSync(join(ROOT, path))) return false;
		return heading === undefined || anchorsOf(read(ROOT, path)).includes(heading);
	}

	test('every link and picture of the packed README is absolute and exists at the tag', () => {
		expect(targets.length).toBeGreaterThan(3);
		expect(targets.filter((target) => !leadsSomewhere(target))).toStrictEqual([]);
	});

	test('the packed README has pictures, and no command that needs a checkout without cloning one', () => {
		expect(targets.filter((target) => target.endsWith('.png')).length).toBeGreaterThan(1);
		const blocks = readme.split(/```\w*\n/).filter((_, index) => index % 2 === 1);
		const lost = blocks.filter(
			(block) => block.includes('npm run') && !block.includes('git clone'),
		);
		expect(lost).toStrictEqual([]);
		expect(readme).not.toMatch(/npm (test|run (build|pack|emulator|bench))\b/);
		expect(readme).not.toContain('<!--');
	});

	test('the documentation button of each node leads to its page at the tag', () => {
		for (const file of manifest.n8n.nodes) {
			// n8n's editor prefers documentationUrl, and adds its parameters to the first address of the codex.
			expect(loaded[file]).not.toHaveProperty('documentationUrl');
			const { resources } = json<{
				resources: Record<string, readonly [{ url: string }]>;
			}>(packed, file.replace(/\.js$/, '.json'));
			const { primaryDocumentation, credentialDocumentation } = resources;
			const page = pageOf(basename(file, '.node.js'))!;
			expect(primaryDocumentation![0].url).toBe(`${homepage}/blob/v${version}/docs/${page}`);
			const [, anchor] = credentialDocumentation![0].url.split('#');
			expect(anchorsOf(readme)).toContain(anchor);
		}
	});
});

test('npm pack in a checkout packs nothing, and names the command that does', () => {
	const checkout = mkdtempSync(join(folder, 'checkout-'));
	for (const file of ['package.json', '.npmrc', 'README.md'])
		cpSync(join(ROOT, file), join(checkout, file));
	// npm passes its own settings, such as --silent, on to the tests that it runs.
	const env = { PATH: process.env['PATH'], HOME: process.env['HOME'] };
	const options = { cwd: checkout, env, encoding: 'utf8' } as const;
	const { status, stderr } = spawnSync('npm', ['pack'], options);
	expect(status).not.toBe(0);
	expect(stderr).toContain("run 'npm run pack' instead");
});

test("n8n's community package scanner reports nothing for the sources and the published files", async () => {
	expect(JSON.parse(await scanned)).toStrictEqual({
		sources: { passed: true },
		packed: { passed: true },
	});
}, 120_000);
