import eslint from '@eslint/js';
import { n8nCommunityNodesPlugin } from '@n8n/eslint-plugin-community-nodes';
import prettier from 'eslint-config-prettier';
import n8nNodesBase from 'eslint-plugin-n8n-nodes-base';
import regexp from 'eslint-plugin-regexp';
import { globalIgnores } from 'eslint/config';
import tseslint from 'typescript-eslint';

const shipped = ['nodes/**/*.ts', 'credentials/**/*.ts'];

/** n8n's rules for verified, cloud-ready packages, without those that n8n's own preset switches off. */
const n8nBase = (config, off = []) => ({
	plugins: { 'n8n-nodes-base': n8nNodesBase },
	rules: {
		...n8nNodesBase.configs[config].rules,
		...Object.fromEntries(off.map((rule) => [`n8n-nodes-base/${rule}`, 'off'])),
	},
});

export default tseslint.config(
	globalIgnores(['dist', 'coverage', 'demo-output', '.cache', 'node_modules']),
	{ linterOptions: { reportUnusedDisableDirectives: 'error' } },
	{
		files: ['**/*.ts', '**/*.mts'],
		extends: [
			eslint.configs.recommended,
			tseslint.configs.strictTypeChecked,
			tseslint.configs.stylisticTypeChecked,
		],
		languageOptions: {
			parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname },
		},
		rules: {
			'no-console': 'error',
			'@typescript-eslint/consistent-type-imports': 'error',
			'@typescript-eslint/consistent-type-exports': 'error',
			// Neither preset has it. A `default` counts: unknown values come from the service.
			'@typescript-eslint/switch-exhaustiveness-check': [
				'error',
				{ considerDefaultExhaustiveForUnions: true },
			],
			// Numbers in template strings are readable and safe.
			'@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
			// Lookups in our own tables are covered by tests; the rule would replace `!` with casts.
			'@typescript-eslint/no-non-null-assertion': 'off',
			// Omitting fields with a rest element leaves the named ones unused on purpose.
			'@typescript-eslint/no-unused-vars': ['error', { ignoreRestSiblings: true }],
			// n8n's interfaces require classes with a single method.
			'@typescript-eslint/no-extraneous-class': 'off',
			// Brackets mark keys that the type does not list, such as fields of an item's JSON.
			'@typescript-eslint/dot-notation': [
				'error',
				{ allowIndexSignaturePropertyAccess: true },
			],
			// Callbacks of n8n, fastify and our ports must return promises even when they do not wait;
			// `async` also turns their exceptions into rejections.
			'@typescript-eslint/require-await': 'off',
			// The one type parameter of a named cast is the type that it casts to.
			'@typescript-eslint/no-unnecessary-type-parameters': 'off',
			// Fields of an item's JSON are typed as possible objects; the rule would replace `String()` with casts.
			'@typescript-eslint/no-base-to-string': 'off',
		},
	},
	{
		files: shipped,
		extends: [n8nCommunityNodesPlugin.configs.recommended],
		plugins: { regexp },
		rules: {
			// A pattern that reads text from outside must take linear time: a hostile text would freeze n8n.
			'regexp/no-super-linear-backtracking': ['error', { report: 'potential' }],
			'regexp/no-super-linear-move': ['error', { report: 'potential', ignoreSticky: false }],
		},
	},
	{
		files: ['package.json'],
		extends: [n8nCommunityNodesPlugin.configs.recommended],
		languageOptions: {
			parser: tseslint.parser,
			parserOptions: { extraFileExtensions: ['.json'] },
		},
		...n8nBase('community'),
	},
	{
		files: ['credentials/**/*.ts'],
		...n8nBase('credentials', [
			// n8n's preset switches these off: the first is for n8n's own repository, the second is covered
			// by @n8n/community-nodes/credential-password-field.
			'cred-class-field-documentation-url-miscased',
			'cred-class-field-type-options-password-missing',
		]),
	},
	{
		files: ['nodes/**/*.ts'],
		...n8nBase('nodes', [
			// n8n's preset switches these off: they predate nodes with several inputs and outputs.
			'node-class-description-inputs-wrong-regular-node',
			'node-class-description-outputs-wrong',
			'node-param-type-options-max-value-present',
		]),
	},
	{
		// The package must load in an n8n without the SDK, and n8n resolves the SDK only for require().
		files: ['nodes/shared/chat/aiNodeSdk.ts'],
		rules: { '@typescript-eslint/no-require-imports': 'off' },
	},
	{
		// Command-line programs: they print.
		files: ['emulator/cli.ts', 'lab/**/*.ts', 'scripts/**/*', 'bench/**/*.ts'],
		rules: { 'no-console': 'off' },
	},
	{
		files: ['*.js', 'scripts/**/*.mjs', 'test/**/*.js'],
		extends: [eslint.configs.recommended],
		languageOptions: {
			sourceType: 'commonjs',
			globals: {
				require: 'readonly',
				module: 'writable',
				exports: 'writable',
				process: 'readonly',
				console: 'readonly',
				__dirname: 'readonly',
			},
		},
	},
	{ files: ['scripts/**/*.mjs'], languageOptions: { sourceType: 'module' } },
	prettier,
);
