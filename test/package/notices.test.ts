import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

import { build } from 'esbuild';

import { ROOT } from '../../lab/paths';

const NOTICES = 'dist/THIRD-PARTY-NOTICES.md';
const PACKAGE = /^.*node_modules[/\\](?:@[^/\\]+[/\\])?[^/\\]+/;

/** The folders of all libraries that are bundled into these files. */
async function librariesOf(entryPoints: readonly string[]): Promise<readonly string[]> {
	const { metafile } = await build({
		entryPoints: [...entryPoints],
		absWorkingDir: ROOT,
		outdir: 'dist',
		bundle: true,
		write: false,
		metafile: true,
		logLevel: 'silent',
		platform: 'node',
		external: ['n8n-workflow', '@n8n/ai-node-sdk'],
	});
	const folders = Object.keys(metafile.inputs).flatMap((file) => PACKAGE.exec(file)?.[0] ?? []);
	return [...new Set(folders)].map((folder) => resolve(ROOT, folder));
}

test('every bundled library has its name, version and license text in a packed file', async () => {
	const { n8n } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
		n8n: { nodes: string[]; credentials: string[] };
	};
	const sources = [...n8n.nodes, ...n8n.credentials].map((file) =>
		file.replace(/^dist\//, '').replace(/\.js$/, '.ts'),
	);
	const libraries = await librariesOf(sources);
	expect(libraries.length).toBeGreaterThan(0);

	const [packed] = JSON.parse(
		execFileSync('npm', ['pack', '--dry-run', '--json'], { cwd: ROOT, encoding: 'utf8' }),
	) as [{ files: { path: string }[] }];
	expect(packed.files.map(({ path }) => path)).toContain(NOTICES);

	const notices = readFileSync(join(ROOT, NOTICES), 'utf8');
	const flat = notices.replace(/\s+/g, ' ');
	for (const folder of libraries) {
		const { name, version } = JSON.parse(
			readFileSync(join(folder, 'package.json'), 'utf8'),
		) as { name: string; version: string };
		expect(notices).toContain(`## ${name} ${version}\n`);
		const section = flat.slice(flat.indexOf(`## ${name} ${version}`)).split(' ## ')[0]!;
		expect(section).toMatch(/Copyright \(c\) .*Permission is hereby granted/i);
		for (const file of readdirSync(folder).filter((each) => /^licen[cs]e/i.test(each))) {
			const text = readFileSync(join(folder, file), 'utf8').trim().replace(/\s+/g, ' ');
			expect(section).toContain(text);
		}
	}
});

test('a library without a license text stops the build', () => {
	const { thirdPartyNotices } = jest.requireActual<{
		thirdPartyNotices: (inputs: readonly string[]) => string;
	}>('../../scripts/thirdPartyNotices');
	const folder = mkdtempSync(join(tmpdir(), 'notices-'));
	try {
		const library = join(folder, 'node_modules', '@scope', 'library');
		mkdirSync(library, { recursive: true });
		const manifest = { name: '@scope/library', version: '1.2.3', license: 'ISC' };
		writeFileSync(join(library, 'package.json'), JSON.stringify(manifest));
		const files = [join(library, 'dist', 'index.js'), 'nodes/x.ts'];
		expect(() => thirdPartyNotices(files)).toThrow(
			'Add it as scripts/licenses/@scope/library.txt',
		);
		writeFileSync(join(library, 'LICENSE-ISC'), 'Copyright (c) Ada');
		expect(thirdPartyNotices(files)).toContain(
			'## @scope/library 1.2.3\n\nLicense: ISC\n\n```\nCopyright (c) Ada\n```\n',
		);
	} finally {
		rmSync(folder, { recursive: true });
	}
});
