import eslint from '@eslint/js';
import { n8nCommunityNodesPlugin } from '@n8n/eslint-plugin-community-nodes';
import prettier from 'eslint-config-prettier';
import n8nNodesBase from 'eslint-plugin-n8n-nodes-base';
import { globalIgnores } from 'eslint/config';
import tseslint from 'typescript-eslint';

const shipped = ['nodes/**/*.ts', 'credentials/**/*.ts'];

/** n8n's rules for verified, cloud-ready packages; the five it switches off itself are marked. */
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
		files: ['**/*.ts'],
		extends: [eslint.configs.recommended, tseslint.configs.strict, tseslint.configs.stylistic],
		rules: {
			'no-console': 'error',
			'@typescript-eslint/consistent-type-imports': 'error',
			// `{}` defaults and numbers in template strings read well and are typed anyway.
			'@typescript-eslint/restrict-template-expressions': 'off',
			// Table lookups are proven by their tests; the rule would hide them behind casts.
			'@typescript-eslint/no-non-null-assertion': 'off',
			// Taking fields out of an object by naming them beside a rest is no unused variable.
			'@typescript-eslint/no-unused-vars': ['error', { ignoreRestSiblings: true }],
			// n8n's contracts fix classes with one method.
			'@typescript-eslint/no-extraneous-class': 'off',
		},
	},
	{
		files: shipped,
		extends: [n8nCommunityNodesPlugin.configs.recommended],
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
			// n8n switches these off itself: the first is for its own repository, the second is covered
			// by @n8n/community-nodes/credential-password-field.
			'cred-class-field-documentation-url-miscased',
			'cred-class-field-type-options-password-missing',
		]),
	},
	{
		files: ['nodes/**/*.ts'],
		...n8nBase('nodes', [
			// n8n switches these off itself: they predate nodes with several inputs and outputs.
			'node-class-description-inputs-wrong-regular-node',
			'node-class-description-outputs-wrong',
			'node-param-type-options-max-value-present',
		]),
	},
	{
		// An n8n without the SDK must load the package all the same, and n8n resolves it for require() only.
		files: ['nodes/shared/chat/aiNodeSdk.ts'],
		rules: { '@typescript-eslint/no-require-imports': 'off' },
	},
	{
		// Programs for a terminal: they print.
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
