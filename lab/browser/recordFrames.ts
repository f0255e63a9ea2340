import type { Page } from 'playwright-core';
import { PNG } from 'pngjs';

import type { Frame } from './encodeGif';
import type { OnStep } from './Hand';

/** How long a frame is shown, in milliseconds. */
const SHOWN_MS = { aim: 420, drag: 400, done: 320 } as const;
/** Time for n8n's animations before a screenshot, in milliseconds. */
const SETTLE_MS = { aim: 300, drag: 300, done: 900 } as const;

/** Elements that cover what is shown: notifications, hints, and the buttons of the canvas. */
const HIDDEN = [
	'.el-notification',
	'[data-test-id="canvas-controls"]',
	'[data-test-id="node-creator-plus-button"]',
] as const;

/** The screenshots of a page; a browser without a window draws no mouse pointer, so the page gets one. */
export interface Recording {
	readonly frames: readonly Frame[];
	/** For Hand.of: takes a screenshot at each moment of an action. */
	readonly onStep: OnStep;
	/** Takes a screenshot, which is shown for some milliseconds. */
	readonly take: (shownMs: number) => Promise<void>;
	/** Shows a heading above the canvas while a screenshot is taken. */
	readonly announce: (text: string, shownMs: number) => Promise<void>;
}

/** Prepares a page, before it opens an address. */
export async function recordFrames(page: Page): Promise<Recording> {
	await page.addInitScript(POINTER);
	const frames: Frame[] = [];
	const take = async (shownMs: number) => {
		const pixels = PNG.sync.read(await page.screenshot()).data;
		const last = frames.at(-1);
		if (last !== undefined && pixels.equals(last.pixels)) {
			frames[frames.length - 1] = { pixels, delayMs: last.delayMs + shownMs };
		} else {
			frames.push({ pixels, delayMs: shownMs });
		}
	};
	const write = async (text: string) => {
		const words = JSON.stringify(text);
		await page.evaluate(`document.querySelector('#tour-heading').textContent = ${words}`);
	};
	return {
		frames,
		take,
		onStep: async (moment) => {
			await page.waitForTimeout(SETTLE_MS[moment]);
			await take(SHOWN_MS[moment]);
		},
		announce: async (text, shownMs) => {
			await write(text);
			await take(shownMs);
			await write('');
		},
	};
}

/** Draws the pointer, with a ring while it is pressed, and has room for a heading. */
const POINTER = `
	addEventListener('DOMContentLoaded', () => {
		document.head.insertAdjacentHTML('beforeend', \`<style>
			${HIDDEN.join(', ')} { visibility: hidden !important; }
			#tour-pointer, #tour-heading { position: fixed; z-index: 2147483647; pointer-events: none; }
			#tour-pointer { left: -99px; top: -99px; }
			#tour-heading {
				left: 0; right: 0; top: 96px; margin: auto; width: fit-content; padding: 12px 24px;
				border-radius: 8px; background: #2d2e3a; color: #fff; font: 600 22px sans-serif;
			}
			#tour-heading:empty { display: none; }
		</style>\`);
		document.body.insertAdjacentHTML('beforeend', \`
			<div id="tour-heading"></div>
			<svg id="tour-pointer" width="44" height="44" viewBox="-16 -16 44 44">
				<circle r="13" fill="#ff6d5a" fill-opacity="0.15" stroke="#ff6d5a" stroke-width="3"></circle>
				<path d="M0 0v19l5-4 4 8 3-2-4-7h6z" fill="#111" stroke="#fff" stroke-width="1.5"></path>
			</svg>\`);
		const pointer = document.querySelector('#tour-pointer');
		addEventListener('pointermove', ({ clientX, clientY }) => {
			pointer.style.left = clientX - 16 + 'px';
			pointer.style.top = clientY - 16 + 'px';
		}, { capture: true });
	});
`;
