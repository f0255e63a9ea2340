import { checkCompatibilityRows, COMPATIBILITY_ROWS } from '../../lab/n8n/compatibilityTests';

test('the compatibility run has a test for every node, and each test exists', () => {
	expect(() => {
		checkCompatibilityRows(COMPATIBILITY_ROWS);
	}).not.toThrow();
});

test('a row whose test does not exist stops the compatibility run', () => {
	const rows = [...COMPATIBILITY_ROWS, { what: 'Moved', file: 'moved.test.ts' }];
	expect(() => {
		checkCompatibilityRows(rows);
	}).toThrow('names tests that do not exist: moved.test.ts');
});

test('a node without a row stops the compatibility run', () => {
	const rows = COMPATIBILITY_ROWS.filter(({ node }) => node !== 'CreateVideo');
	expect(() => {
		checkCompatibilityRows(rows);
	}).toThrow('has no test for these nodes: CreateVideo');
});
