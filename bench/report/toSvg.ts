import type { TopLevelSpec } from 'vega-lite' with { 'resolution-mode': 'import' };

/** Draws a plot. */
export async function toSvg(plot: TopLevelSpec): Promise<string> {
	const { compile } = await import('vega-lite');
	const { parse, View } = await import('vega');
	return await new View(parse(compile(plot).spec), { renderer: 'none' }).toSVG();
}
