/** Size of a picture in macroblocks. */
export interface Grid {
	readonly columns: number;
	readonly rows: number;
}

/** The upper rows of macroblocks move to the right by whole pixels. */
export interface Motion {
	readonly moving: number;
	readonly pixels: number;
}

/** Unsigned exponential-Golomb code (ITU-T H.264, 9.1). */
function unsigned(value: number): string {
	const bits = (value + 1).toString(2);
	return bits.padStart(2 * bits.length - 1, '0');
}

/** Signed exponential-Golomb code (ITU-T H.264, 9.1.1). */
const signed = (value: number): string => unsigned(value > 0 ? 2 * value - 1 : -2 * value);

/**
 * A macroblock of 16 by 16 pixels without a residual, after some that are skipped (ITU-T H.264, 7.3.4).
 *
 * @param difference of its motion from the one that its neighbors predict (8.4.1.3), in quarters of a pixel
 */
const block = (skipped: number, difference: number): string =>
	unsigned(skipped) + unsigned(0) + signed(difference) + signed(0) + unsigned(0);

/** Whole pictures of macroblocks: in the rows below the first one, the skipped ones move as those above (8.4.1.1). */
function macroblocks({ columns, rows }: Grid, { moving, pixels }: Motion): string {
	const beside = columns - 1;
	return [
		// Content comes from the left.
		block(0, -4 * pixels),
		block(0, 0).repeat(beside),
		moving > 1 ? block(0, 0) + block(beside, 0).repeat(moving - 2) : '',
		unsigned((moving > 1 ? beside : 0) + columns * (rows - moving)),
	].join('');
}

/** A network abstraction layer unit: a zero byte pair is never followed by a small byte (ITU-T H.264, 7.4.1). */
function toUnit(header: number, bits: string): Buffer {
	const whole = `${bits}1`;
	const bytes = [header];
	for (let start = 0; start < whole.length; start += 8) {
		const byte = Number.parseInt(whole.slice(start, start + 8).padEnd(8, '0'), 2);
		if (byte <= 3 && bytes.at(-1) === 0 && bytes.at(-2) === 0) bytes.push(3);
		bytes.push(byte);
	}
	return Buffer.from(bytes);
}

/** Header of a reference picture that is a non-IDR slice. */
const SLICE = 0x61;

/**
 * Frame in which the upper part of the picture moves, and nothing else changes: some bytes, where an encoder would search the
 * whole picture. For the stream that h264-mp4-encoder begins: baseline profile, frame numbers of 5 bits.
 *
 * @param number frames since the last key frame
 */
export function motionFrame(grid: Grid, motion: Motion, number: number): Buffer {
	const frameNumber = (number % 32).toString(2).padStart(5, '0');
	const [allInter, unfiltered] = [unsigned(5), unsigned(1)];
	const header = `${unsigned(0)}${allInter}${unsigned(0)}${frameNumber}000${signed(0)}${unfiltered}`;
	return toUnit(SLICE, header + macroblocks(grid, motion));
}
