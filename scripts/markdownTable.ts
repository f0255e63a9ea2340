/** Builds a Markdown table; Prettier aligns its columns. */
export function markdownTable(
	head: readonly string[],
	rows: readonly (readonly string[])[],
): string {
	return [head, head.map(() => '---'), ...rows]
		.map((cells) => `| ${cells.join(' | ')} |`)
		.join('\n');
}
