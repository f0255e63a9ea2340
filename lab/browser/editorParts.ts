import type { Locator, Page } from 'playwright-core';

/** A node in the search results of the nodes panel. */
export function foundNode(page: Page, name: string): Locator {
	return page
		.getByTestId('node-creator-item-name')
		.filter({ has: page.getByText(name, { exact: true }) });
}

/** A node on the canvas. */
export function canvasNode(page: Page, name: string): Locator {
	return page.locator(`[data-test-id="canvas-node"][data-node-name="${name}"]`);
}

/** The labels of the fields in the open panel, from top to bottom. */
export async function panelLabels(page: Page): Promise<readonly string[]> {
	const labels = page.getByTestId('ndv').getByTestId('parameter-item').getByTestId('input-label');
	// The other tab has the settings of the node. The switch for expressions follows on a line of its own.
	const shown = labels.filter({ visible: true });
	return (await shown.allInnerTexts()).map((text) => text.split('\n')[0]!);
}

/** The input field of a parameter, of a node or of a credential. */
export function field(page: Page, name: string): Locator {
	return page.getByTestId(`parameter-input-${name}`).locator('input, textarea');
}
