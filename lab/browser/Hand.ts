import type { Locator, Page } from 'playwright-core';

import { foundNode } from './editorParts';

/** A moment of an action: the pointer has reached its place and is about to press, a line is being drawn, or it is done. */
export type Moment = 'aim' | 'drag' | 'done';

/** Called at each moment of an action, which goes on when the promise resolves. */
export type OnStep = (moment: Moment) => Promise<void>;

/**
 * Works in n8n's editor with a mouse and a keyboard as a person does. The page counts what the mouse does, so that no
 * click is left out.
 */
export class Hand {
	private constructor(
		private readonly page: Page,
		private readonly onStep?: OnStep,
	) {}

	/**
	 * Takes hold of a page before it opens an address. Presses are counted in the document: those that hit another element,
	 * and are tried again, are stopped in the window.
	 */
	static async of(page: Page, onStep?: OnStep): Promise<Hand> {
		await page.addInitScript(
			`clicks = 0; document.addEventListener('pointerdown', () => clicks++, { capture: true });`,
		);
		return new Hand(page, onStep);
	}

	/** How often a mouse button was pressed since the page was opened. */
	async clicks(): Promise<number> {
		return await this.page.evaluate<number>('clicks');
	}

	async click(place: Locator): Promise<void> {
		if (this.onStep !== undefined) {
			await place.hover();
			await this.onStep('aim');
		}
		await place.click();
		await this.onStep?.('done');
	}

	/** Clicks into a field, and types. */
	async type(place: Locator, text: string): Promise<void> {
		await place.click();
		await this.page.keyboard.press('Control+A');
		await this.page.keyboard.insertText(text);
		await this.onStep?.('done');
	}

	async press(key: string): Promise<void> {
		await this.page.keyboard.press(key);
		await this.onStep?.('done');
	}

	/** Adds the first step of an empty workflow by its name in the list of triggers. Its panel is open unless it has none. */
	async startWith(trigger: string): Promise<void> {
		await this.click(this.page.getByTestId('canvas-add-button').first());
		await this.click(this.page.getByText(trigger, { exact: true }).first());
	}

	/** Clicks the plus at an output or a slot. */
	async clickPlus(node: string, handle: string): Promise<void> {
		await this.click(this.handle(node, handle).getByTestId('canvas-handle-plus'));
	}

	/** Searches in the list of nodes and chooses one; then, if the list asks for it, what the node is to do. */
	async choose(text: string, name: string, action?: string): Promise<void> {
		await this.page.getByTestId('node-creator-search-bar').fill(text);
		await this.click(foundNode(this.page, name).first());
		if (action !== undefined) {
			const creator = this.page.getByTestId('node-creator');
			await this.click(creator.getByText(action, { exact: true }).first());
		}
		await this.page.getByTestId('ndv').waitFor();
	}

	async closePanel(): Promise<void> {
		await this.click(this.page.getByTestId('ndv-close-button'));
		await this.page.getByTestId('ndv').waitFor({ state: 'hidden' });
	}

	/** Draws a connection from an output back to an input. */
	async connect(from: readonly [string, string], to: readonly [string, string]): Promise<void> {
		const { mouse } = this.page;
		const [begin, end] = [await this.middle(...from), await this.middle(...to)];
		await mouse.move(begin.x, begin.y);
		await this.onStep?.('aim');
		await mouse.down();
		await mouse.move((begin.x + end.x) / 2, end.y, { steps: 5 });
		await this.onStep?.('drag');
		await mouse.move(end.x, end.y, { steps: 5 });
		await mouse.up();
		await this.onStep?.('done');
	}

	/** The circle at an output or input; the plus beside it belongs to it. */
	private handle(node: string, handle: string): Locator {
		return this.page
			.locator('.vue-flow__node')
			.filter({ has: this.page.locator(`[data-node-name="${node}"]`) })
			.locator(`[data-handleid="${handle}"]`);
	}

	private async middle(node: string, handle: string): Promise<{ x: number; y: number }> {
		const box = (await this.handle(node, handle).boundingBox())!;
		return { x: box.x + Math.min(box.width / 2, 8), y: box.y + box.height / 2 };
	}
}
