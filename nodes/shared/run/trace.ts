import type { IExecuteFunctions } from 'n8n-workflow';

/** Maximum characters of a text with the values of many items. */
const MAX_TEXT = 1_000;

/**
 * Adds attributes to the span of this run in n8n's OpenTelemetry traces; n8n also stores them with the execution. The
 * names follow the semantic conventions where these have one. Over the items of a run numbers are summed, and different
 * texts are listed. Does nothing where n8n has no metadata: in an old version, and in a sub-node.
 */
export function trace(
	context: Partial<IExecuteFunctions>,
	attributes: Readonly<Record<string, string | number | undefined>>,
): void {
	const earlier = context.getExecuteData?.().metadata?.tracing ?? {};
	const tracing = Object.entries(attributes).flatMap(([name, value]) =>
		value === undefined || value === '' ? [] : [[name, joined(earlier[name], value)] as const],
	);
	context.setMetadata?.({ tracing: Object.fromEntries(tracing) });
}

function joined(
	earlier: string | number | boolean | undefined,
	value: string | number,
): string | number {
	if (typeof value === 'number') return (typeof earlier === 'number' ? earlier : 0) + value;
	const texts = new Set([...(earlier === undefined ? [] : String(earlier).split(', ')), value]);
	return [...texts].join(', ').slice(0, MAX_TEXT);
}
