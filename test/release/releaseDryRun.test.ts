/**
 * A release from its tag to the published file, as the release tool and publish.yml do it, with a registry on this
 * machine. Not in it: GitHub's runner, its identity for the provenance, and npm's own registry.
 */
import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
	cpSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	rmSync,
	symlinkSync,
	writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { json } from 'node:stream/consumers';

import { ROOT } from '../../lab/paths';
import { gitOverCheckout } from '../support/gitOverCheckout';
import { PACKAGE_NAME } from '../../scripts/nodePages';

const VERSION = '99.0.0';
const TAG = `v${VERSION}`;
const FILE = `${PACKAGE_NAME}-${VERSION}.tgz`;
const LIMIT_MS = 120_000;

/** What npm sends to publish a version. */
interface Publication {
	readonly access: string;
	readonly 'dist-tags': Readonly<Record<string, string>>;
	readonly versions: Readonly<Record<string, { readonly dist: { readonly integrity: string } }>>;
	readonly _attachments: Readonly<Record<string, { readonly data: string }>>;
}

const { jobs } = workflow();
let folder: string;
let checkout: string;
let registry: Server;
let published: Publication[];

/** The commands of a job of publish.yml. */
function workflow() {
	const text = readFileSync(join(ROOT, '.github', 'workflows', 'publish.yml'), 'utf8');
	const parts = text.split(/^ {2}(?=[\w-]+:$)/m).slice(1);
	const commands = (part: string) =>
		[...part.matchAll(/run: (.*)/g)].map(([, command]) => command!);
	return {
		jobs: Object.fromEntries(parts.map((part) => [part.split(':', 1)[0]!, commands(part)])),
	};
}

const git = (...args: readonly string[]) =>
	execFileSync('git', args, { cwd: checkout, encoding: 'utf8' });
const runTool = (...args: readonly string[]) =>
	execFileSync(process.execPath, args, { cwd: checkout, encoding: 'utf8', stdio: 'pipe' });

/** A checkout of the files as they are now, with everything committed. */
function checkOut(): void {
	const files = gitOverCheckout('ls-files', '--others', '--exclude-standard', '-z')
		.split('\0')
		.filter(Boolean);
	for (const file of files) {
		mkdirSync(dirname(join(checkout, file)), { recursive: true });
		cpSync(join(ROOT, file), join(checkout, file));
	}
	const changelog = join(checkout, 'CHANGELOG.md');
	const text = readFileSync(changelog, 'utf8');
	writeFileSync(changelog, text.replace('## [Unreleased]', '## [Unreleased]\n\n- A new thing.'));
	symlinkSync(join(ROOT, 'node_modules'), join(checkout, 'node_modules'));
	git('init', '--quiet', '--initial-branch', 'main');
	git('config', 'user.name', 'Someone');
	git('config', 'user.email', 'someone@example.com');
	writeFileSync(join(checkout, '.git', 'info', 'exclude'), 'node_modules\n');
	git('add', '--all');
	git('commit', '--quiet', '--message', 'Everything');
}

/** Runs npm against the registry on this machine, and returns what it says. */
async function npm(command: string): Promise<{ code: number; said: string }> {
	const { port } = registry.address() as AddressInfo;
	const settings = join(folder, 'npmrc');
	writeFileSync(
		settings,
		`registry=http://127.0.0.1:${port}/\n//127.0.0.1:${port}/:_authToken=secret\n`,
	);
	// None of the variables by which npm recognizes a CI service.
	const env = { PATH: process.env['PATH'], HOME: folder, NPM_CONFIG_USERCONFIG: settings };
	const child = spawn('sh', ['-c', command], {
		cwd: folder,
		env: { ...env, GITHUB_REF_NAME: TAG },
	});
	let said = '';
	for (const stream of [child.stdout, child.stderr])
		stream.on('data', (data: Buffer) => (said += data.toString()));
	const [code] = (await once(child, 'close')) as [number];
	return { code, said };
}

beforeAll(async () => {
	folder = mkdtempSync(join(tmpdir(), 'release-'));
	checkout = join(folder, 'checkout');
	mkdirSync(checkout);
	checkOut();
	published = [];
	registry = createServer((request, response) => {
		void (async () => {
			if (request.method === 'PUT') published.push((await json(request)) as Publication);
			response.writeHead(request.method === 'PUT' ? 201 : 404).end('{}');
		})();
	}).listen(0, '127.0.0.1');
	await once(registry, 'listening');
});
afterAll(() => {
	registry.close();
	registry.closeAllConnections();
	rmSync(folder, { recursive: true, force: true });
});

test(
	'the tag has the version, and is packed and published as one file',
	async () => {
		const tool = join(ROOT, 'node_modules', 'release-it', 'bin', 'release-it.js');
		runTool(tool, '--ci', '--hooks.before:init=git --version', VERSION);
		expect(git('tag', '--points-at', 'HEAD').trim()).toBe(TAG);
		expect(git('status', '--short')).toBe('');

		const [check, pack] = jobs['pack']!;
		execFileSync('sh', ['-c', check!], {
			cwd: checkout,
			env: { ...process.env, GITHUB_REF_NAME: TAG },
		});
		// Without ready.mjs, which would install into the linked folder.
		expect(pack).toBe('npm run pack');
		runTool(join(ROOT, 'node_modules', 'tsx', 'dist', 'cli.mjs'), 'scripts/pack.ts');
		expect(readdirSync(checkout).filter((file) => file.endsWith('.tgz'))).toStrictEqual([FILE]);
		expect(git('status', '--short')).toBe('');

		const file = join(folder, FILE);
		cpSync(join(checkout, FILE), file);
		execFileSync('tar', ['-xzf', file, '-C', folder]);
		const page = readFileSync(join(folder, 'package', 'README.md'), 'utf8');
		expect(page).toContain(`/blob/${TAG}/docs/create-video.md`);
		expect(page).not.toMatch(/\/(blob|raw)\/(?!v99\.0\.0\/)/);

		const [publish] = jobs['publish']!;
		// npm signs only where a CI service vouches for the run: nowhere else can this command publish.
		const here = await npm(publish!);
		expect(here.said).toMatch(/provenance/i);
		expect(here.code).not.toBe(0);
		expect(published).toStrictEqual([]);

		const { code } = await npm(publish!.replace(' --provenance', ''));
		expect(code).toBe(0);
		const [{ access, versions, _attachments, 'dist-tags': tags }] = published as [Publication];
		expect(access).toBe('public');
		expect(tags).toStrictEqual({ latest: VERSION });
		const content = readFileSync(file);
		expect(Object.values(_attachments).map(({ data }) => data)).toStrictEqual([
			content.toString('base64'),
		]);
		const hash = createHash('sha512').update(content).digest('base64');
		expect(versions[VERSION]!.dist.integrity).toBe(`sha512-${hash}`);
	},
	LIMIT_MS,
);
