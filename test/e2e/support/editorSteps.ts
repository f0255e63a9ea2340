import type { Page } from 'playwright-core';

import { foundNode } from '../../../lab/browser/editorParts';

/** Adds a manual trigger to an empty workflow. */
export async function addManualTrigger(page: Page): Promise<void> {
	await page.getByTestId('canvas-add-button').first().click();
	await foundNode(page, 'Trigger manually').click();
	await page.getByTestId('canvas-trigger-node').waitFor();
}

/** A search text without results. */
const NOTHING = 'zzzqqq';

/** Searches in the panel for the next node. */
export async function searchNodes(page: Page, text: string): Promise<void> {
	const search = page.getByTestId('node-creator-search-bar');
	if (!(await search.isVisible())) await page.getByTestId('node-creator-plus-button').click();
	// Results of the previous search stay for a moment: wait until they are gone.
	await search.fill(NOTHING);
	await page.getByTestId('node-creator-item-name').first().waitFor({ state: 'detached' });
	await search.fill(text);
}

/** Adds a node after the last one. Its panel stays open. */
export async function addNode(page: Page, name: string): Promise<void> {
	await searchNodes(page, name);
	await foundNode(page, name).click();
	await page.getByRole('button', { name: 'Add to workflow' }).click();
	await page.getByTestId('ndv').waitFor();
}

/** Selects a credential in the open panel. n8n does that itself, but only after a moment. */
export async function chooseCredential(page: Page, name: string): Promise<void> {
	await page.getByTestId('node-credentials-select').click();
	await page.getByText(name, { exact: true }).last().click();
	await page.getByTestId('credential-edit-button').waitFor();
}

export async function closePanel(page: Page): Promise<void> {
	await page.getByTestId('ndv-close-button').click();
	await page.getByTestId('ndv').waitFor({ state: 'hidden' });
}
