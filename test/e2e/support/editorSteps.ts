import type { Locator, Page } from 'playwright-core';

/** Begins a workflow that is started by a click. */
export async function addManualTrigger(page: Page): Promise<void> {
	await page.getByTestId('canvas-add-button').first().click();
	await foundNode(page, 'Trigger manually').click();
	await page.getByTestId('canvas-trigger-node').waitFor();
}

/** Finds no node at all. */
const NOTHING = 'zzzqqq';

/** Looks for nodes to come next. */
export async function searchNodes(page: Page, text: string): Promise<void> {
	const search = page.getByTestId('node-creator-search-bar');
	if (!(await search.isVisible())) await page.getByTestId('node-creator-plus-button').click();
	// What an earlier search found stays for a moment, and must not be taken for what this one finds.
	await search.fill(NOTHING);
	await page.getByTestId('node-creator-item-name').first().waitFor({ state: 'detached' });
	await search.fill(text);
}

/** A node among those that were found. */
export function foundNode(page: Page, name: string): Locator {
	return page
		.getByTestId('node-creator-item-name')
		.filter({ has: page.getByText(name, { exact: true }) });
}

/** Adds a node after the one that was added last, and leaves its panel open. */
export async function addNode(page: Page, name: string): Promise<void> {
	await searchNodes(page, name);
	await foundNode(page, name).click();
	await page.getByRole('button', { name: 'Add to workflow' }).click();
	await page.getByTestId('ndv').waitFor();
}

/** Takes a credential for the node whose panel is open; n8n does that by itself, but only after a moment. */
export async function chooseCredential(page: Page, name: string): Promise<void> {
	await page.getByTestId('node-credentials-select').click();
	await page.getByText(name, { exact: true }).last().click();
	await page.getByTestId('credential-edit-button').waitFor();
}

export async function closePanel(page: Page): Promise<void> {
	await page.getByTestId('ndv-close-button').click();
	await page.getByTestId('ndv').waitFor({ state: 'hidden' });
}

/** A node on the canvas. */
export function canvasNode(page: Page, name: string): Locator {
	return page.locator(`[data-test-id="canvas-node"][data-node-name="${name}"]`);
}

/** The field of a form, of a node or of a credential, by the name of its parameter. */
export function field(page: Page, name: string): Locator {
	return page.getByTestId(`parameter-input-${name}`).locator('input, textarea');
}
