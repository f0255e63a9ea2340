import type { IBuilderHint } from 'n8n-workflow';

/** `builderHint.json` of a node. */
interface HintFile extends Omit<IBuilderHint, 'extraTypeDefContent'> {
	/** A workflow by n8n's SDK, as lines. */
	readonly example: string[];
}

/**
 * What n8n's AI builder and its MCP server read about a node: when to use it, what must follow, and in its type
 * definition a workflow to start from.
 */
export function builderHint({ example, ...hint }: HintFile): IBuilderHint {
	const content = ['<patterns>', ...example, '</patterns>'].join('\n');
	return { ...hint, extraTypeDefContent: [{ content }] };
}
