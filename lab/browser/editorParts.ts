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

/** The input field of a parameter, of a node or of a credential. */
export function field(page: Page, name: string): Locator {
	return page.getByTestId(`parameter-input-${name}`).locator('input, textarea');
}
