import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(__dirname, '..', '..');
const ROWS = readFileSync(join(ROOT, 'SECURITY.md'), 'utf8')
	.split('\n')
	.filter((line) => line.startsWith('| '))
	.map((line) => line.split('|').map((cell) => cell.trim()))
	.slice(2);

test.each(ROWS.map(([, threat = '', , tests = '']) => [threat, tests] as const))(
	'%s: the tests that SECURITY.md names exist',
	(_threat, tests) => {
		const paths = [...tests.matchAll(/`([^`]+)`/g)].map(([, path]) => path!);
		expect(paths).not.toHaveLength(0);
		expect(paths.filter((path) => !existsSync(join(ROOT, path)))).toStrictEqual([]);
	},
);
