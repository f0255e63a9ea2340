import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const ROOT = resolve(__dirname, '../..');
const FILES = ['package.json', 'package-lock.json', 'CHANGELOG.md', '.release-it.json'];
const ENTRY = '- A new thing.';
const PERSON = { name: 'Someone', email: 'someone@example.com' };
const LIMIT_MS = 60_000;

let folder: string;

const git = (...args: string[]) => execFileSync('git', args, { cwd: folder, encoding: 'utf8' });
const read = (file: string) => readFileSync(join(folder, file), 'utf8');
const versionOf = (file: string) => (JSON.parse(read(file)) as { version: string }).version;

/** Runs the release tool in the folder, without the tests that precede a release, and returns its output. */
function release(...args: string[]) {
	const bin = join(ROOT, 'node_modules', 'release-it', 'bin', 'release-it.js');
	const { status, stdout, stderr } = spawnSync(
		process.execPath,
		[bin, '--ci', '--hooks.before:init=git --version', ...args],
		{ cwd: folder, encoding: 'utf8' },
	);
	return { status, said: stdout + stderr };
}

beforeEach(() => {
	folder = mkdtempSync(join(tmpdir(), 'release-'));
	for (const file of FILES) cpSync(join(ROOT, file), join(folder, file));
	const changelog = read('CHANGELOG.md').replace(
		'## [Unreleased]',
		`## [Unreleased]\n\n${ENTRY}`,
	);
	writeFileSync(join(folder, 'CHANGELOG.md'), changelog);
	git('init', '--quiet', '--initial-branch', 'main');
	git('config', 'user.name', PERSON.name);
	git('config', 'user.email', PERSON.email);
	git('add', '--all');
	git('commit', '--quiet', '--message', 'Everything');
});
afterEach(() => {
	rmSync(folder, { recursive: true, force: true });
});

test(
	'a release dates the unreleased changes, commits and tags, and pushes nothing',
	() => {
		// The first release keeps the version in package.json.
		const version = versionOf('package.json');
		const { status, said } = release(version);
		expect([status, said]).toStrictEqual([0, expect.stringContaining(ENTRY)]);
		expect(read('CHANGELOG.md')).toContain(
			`## [Unreleased]\n\n## [${version}] - ${today()}\n\n${ENTRY}`,
		);
		expect(git('log', '--format=%s')).toBe(`chore: release ${version}\nEverything\n`);
		expect(git('tag')).toBe(`v${version}\n`);
		expect(git('status', '--short')).toBe('');

		const empty = release('9.0.0');
		expect(empty.status).not.toBe(0);
		expect(empty.said).toContain('There are no entries under "Unreleased"');
	},
	LIMIT_MS,
);

test(
	'a dry run prints its steps and changes nothing, without a network or a remote',
	() => {
		const { status, said } = release('9.0.0', '--dry-run');
		expect(said).toContain('! npm version 9.0.0');
		expect(said).toContain('! git tag --annotate --message Version 9.0.0 v9.0.0');
		expect(said).not.toContain('push');
		expect(status).toBe(0);
		expect(versionOf('package.json')).not.toBe('9.0.0');
		expect(git('status', '--short')).toBe('');
		expect(git('tag')).toBe('');
	},
	LIMIT_MS,
);

/** The local date, as the release tool writes it. */
function today(): string {
	const now = new Date();
	const two = (part: number) => String(part).padStart(2, '0');
	return `${now.getFullYear()}-${two(now.getMonth() + 1)}-${two(now.getDate())}`;
}
