declare module 'eslint-plugin-n8n-nodes-base' {
	import type { ESLint } from 'eslint';

	const plugin: ESLint.Plugin;
	export default plugin;
}
