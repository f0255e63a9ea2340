import { n8nCommunityNodesPlugin } from '@n8n/eslint-plugin-community-nodes';
import tseslint from 'typescript-eslint';

/** What n8n's scanner asks of the published files: its rules, with no way to switch one off inside a file. */
export default [
	{
		linterOptions: { noInlineConfig: true, reportUnusedDisableDirectives: 'off' },
	},
	{ files: ['**/*.js'], ...n8nCommunityNodesPlugin.configs.recommended },
	{
		files: ['package.json'],
		...n8nCommunityNodesPlugin.configs.recommended,
		languageOptions: {
			parser: tseslint.parser,
			parserOptions: { extraFileExtensions: ['.json'] },
		},
	},
];
