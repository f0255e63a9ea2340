/** The animated tour of the README, and the encoder that writes it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { encodeGif } from '../../lab/browser/encodeGif';
import { ROOT } from '../../lab/paths';
import { pictureChanges, probe } from '../emulator/support/probe';

const [WIDTH, HEIGHT] = [48, 30];

/** A frame of noise that looks different in each place; no compression makes it small. */
function noise(delayMs: number): { pixels: Uint8Array; delayMs: number } {
	let state = 1;
	const pixels = Uint8Array.from({ length: 4 * WIDTH * HEIGHT }, (_, at) => {
		state = (state * 48_271) % 2_147_483_647;
		return at % 4 === 3 ? 255 : state % 256;
	});
	return { pixels, delayMs };
}

/** The frame with its first rows in one color. */
function painted({ pixels }: { pixels: Uint8Array }, rows: number, delayMs: number) {
	return { pixels: pixels.slice().fill(255, 0, 4 * WIDTH * rows), delayMs };
}

test('an animation has the size, the frames and the duration that it was given', async () => {
	const first = noise(500);
	const gif = encodeGif([first, painted(first, 15, 1_500)], WIDTH, HEIGHT);
	expect(Buffer.from(gif.subarray(0, 6)).toString()).toBe('GIF89a');
	expect(await probe(Buffer.from(gif))).toMatchObject({
		codec: 'gif',
		width: WIDTH,
		height: HEIGHT,
		shownSeconds: 2,
	});
});

test('what does not change stays in the picture, and takes almost no space', async () => {
	const first = noise(100);
	const one = encodeGif([first], WIDTH, HEIGHT).length;
	const same = encodeGif([first, first, first], WIDTH, HEIGHT);
	expect(same.length).toBeLessThan(1.1 * one);
	expect(await pictureChanges(Buffer.from(same))).toStrictEqual([0, 0]);
	const changed = encodeGif([first, painted(first, 15, 100), first], WIDTH, HEIGHT);
	expect(changed.length).toBeLessThan(2 * one);
	const [toWhite, back] = await pictureChanges(Buffer.from(changed));
	expect(toWhite).toBeGreaterThan(10);
	expect(back).toBeCloseTo(toWhite!, 1);
});

test('frames of another size, or none, are an error', () => {
	expect(() => encodeGif([], WIDTH, HEIGHT)).toThrow('at least one frame');
	expect(() => encodeGif([noise(100)], WIDTH, HEIGHT + 1)).toThrow('48 x 31 pixels');
});

test('the tour repeats forever, and its still has the same size', async () => {
	const tour = readFileSync(join(ROOT, 'docs/pictures/tour.gif'));
	const still = readFileSync(join(ROOT, 'docs/pictures/tour.png'));
	expect(tour.includes('NETSCAPE2.0')).toBe(true);
	const { width, height, shownSeconds } = await probe(tour);
	expect(shownSeconds).toBeLessThan(40);
	// The size of a PNG is at the beginning of its first part.
	expect([still.readUInt32BE(16), still.readUInt32BE(20)]).toStrictEqual([width, height]);
});
