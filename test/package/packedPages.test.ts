/** The texts of the packed package: what a person reads on npm's page and reaches from n8n's editor. */
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { ROOT } from '../../lab/paths';
import { loadNode, NODE_NAMES, pageOf } from '../../scripts/nodePages';
import { packPackage } from '../../scripts/packPackage';

const { version, homepage } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
	version: string;
	homepage: string;
};
/** Address of a file of the repository at the tag of this version, with an optional heading. */
const AT_TAG = new RegExp(`^${homepage}/(?:blob|raw)/v${version}/([^#]+)(?:#(.+))?$`);
const PAGES = ['README.md'];

let folder: string;
let packed: string;

beforeAll(async () => {
	folder = mkdtempSync(join(tmpdir(), 'packed-pages-'));
	execFileSync('tar', ['-xzf', await packPackage(folder), '-C', folder]);
	packed = join(folder, 'package');
});
afterAll(() => {
	rmSync(folder, { recursive: true, force: true });
});

const read = (...path: readonly string[]) => readFileSync(join(...path), 'utf8');

/** The targets of all links and pictures. */
const targetsOf = (text: string) =>
	[...text.matchAll(/\]\(([^)]+)\)|(?:src|srcset|href)="([^"]+)"/g)].map(
		([, link, source]) => link ?? source!,
	);

/** The anchors that GitHub gives the headings. */
const anchorsOf = (text: string) =>
	[...text.matchAll(/^#+ (.*)$/gm)].map(([, heading]) =>
		heading!
			.toLowerCase()
			.replace(/[^\w\- ]/g, '')
			.replace(/ /g, '-'),
	);

/** Whether the file of the repository, or the heading of this page, exists. Other addresses are not asked. */
function leadsSomewhere(target: string, page: string): boolean {
	if (target.startsWith('#')) return anchorsOf(page).includes(target.slice(1));
	if (!target.startsWith(`${homepage}/blob`) && !target.startsWith(`${homepage}/raw`))
		return target.startsWith('https://');
	const [, path, heading] = AT_TAG.exec(target) ?? [];
	if (path === undefined || !existsSync(join(ROOT, path))) return false;
	return heading === undefined || anchorsOf(read(ROOT, path)).includes(heading);
}

test.each(PAGES)(
	'every link and picture of the packed %s is absolute and exists at the tag',
	(file) => {
		const page = read(packed, file);
		const targets = targetsOf(page);
		expect(targets.length).toBeGreaterThan(3);
		expect(targets.filter((target) => !leadsSomewhere(target, page))).toStrictEqual([]);
	},
);

test('the packed README has pictures, and no command that needs a checkout without cloning one', () => {
	const page = read(packed, 'README.md');
	expect(targetsOf(page).filter((target) => target.endsWith('.png')).length).toBeGreaterThan(1);
	const blocks = page.split(/```\w*\n/).filter((_, index) => index % 2 === 1);
	const lost = blocks.filter(
		(block) => block.includes('npm run') && !block.includes('git clone'),
	);
	expect(lost).toStrictEqual([]);
	expect(page).not.toMatch(/npm (test|run (build|pack|emulator|bench))\b/);
	expect(page).not.toContain('<!--');
});

test.each(NODE_NAMES)(
	'the documentation button of %s leads to its page at the tag',
	async (name) => {
		// n8n's editor prefers documentationUrl, and adds its parameters to the first address of the codex.
		expect((await loadNode(name)).description).not.toHaveProperty('documentationUrl');
		const codex = JSON.parse(read(packed, 'dist', 'nodes', name, `${name}.node.json`)) as {
			resources: Record<string, readonly [{ url: string }]>;
		};
		const { primaryDocumentation, credentialDocumentation } = codex.resources;
		expect(primaryDocumentation![0].url).toBe(
			`${homepage}/blob/v${version}/docs/${pageOf(name)!}`,
		);
		const [, anchor] = credentialDocumentation![0].url.split('#');
		expect(anchorsOf(read(packed, 'README.md'))).toContain(anchor);
	},
);

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
