/** Removes of a page what Prettier decides: the width of columns, and backslashes. */
export const plain = (text: string) => text.replace(/[\s\\-]+/g, ' ').trim();

/** The anchors that GitHub gives the headings of a page. */
export const anchorsOf = (page: string) =>
	[...page.matchAll(/^#+ (.*)$/gm)].map(([, heading]) =>
		heading!
			.toLowerCase()
			.replace(/[^\w\- ]/g, '')
			.replace(/ /g, '-'),
	);
