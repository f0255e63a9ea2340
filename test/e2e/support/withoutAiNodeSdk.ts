/**
 * Preloaded into n8n: makes `@n8n/ai-node-sdk` unresolvable for the installed package, as in an n8n version without it.
 */
interface ModuleLoader {
	_resolveFilename(
		request: string,
		parent: { readonly filename?: string } | null,
		...more: unknown[]
	): string;
}

const loader = process.getBuiltinModule('node:module').Module as unknown as ModuleLoader;
const resolve = loader._resolveFilename.bind(loader);

loader._resolveFilename = (request, parent, ...more) => {
	const isPackage = /node_modules[/\\]n8n-nodes-agent-video[/\\]/.test(parent?.filename ?? '');
	if (!isPackage || request !== '@n8n/ai-node-sdk') return resolve(request, parent, ...more);
	throw Object.assign(new Error(`Cannot find module '${request}'`), { code: 'MODULE_NOT_FOUND' });
};
