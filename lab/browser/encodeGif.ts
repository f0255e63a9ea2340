import { applyPalette, GIFEncoder, quantize } from 'gifenc';

/** A frame of an animation. */
export interface Frame {
	/** Red, green, blue and opacity of each pixel, row by row from the top left. */
	readonly pixels: Uint8Array;
	/** How long the frame is shown, in milliseconds; GIF stores hundredths of a second. */
	readonly delayMs: number;
}

/** A GIF has 256 colors; one of them stands for "unchanged". */
const MAX_COLORS = 255;
/** Number of frames, spread over the animation, whose colors are in the palette. */
const PALETTE_FRAMES = 8;

/**
 * Encodes an animation that repeats forever, as a GIF. All frames have one palette; a pixel that does not change is
 * transparent, because a long run of one value takes almost no space.
 *
 * @throws Error if there is no frame, or if a frame has another size.
 */
export function encodeGif(frames: readonly Frame[], width: number, height: number): Uint8Array {
	if (frames.length === 0) throw new Error('An animation needs at least one frame');
	if (frames.some(({ pixels }) => pixels.length !== 4 * width * height)) {
		throw new Error(`Every frame must have ${width} x ${height} pixels`);
	}
	const palette = quantize(samplePixels(frames), MAX_COLORS);
	const unchanged = palette.length;
	const encoder = GIFEncoder();
	let previous: Uint8Array | undefined;
	for (const { pixels, delayMs } of frames) {
		const indexed = applyPalette(pixels, palette);
		const before = previous;
		const changes =
			before === undefined
				? indexed
				: indexed.map((color, at) => (color === before[at] ? unchanged : color));
		encoder.writeFrame(changes, width, height, {
			// Only the first frame carries the palette, with the color that is never seen.
			...(before === undefined && { palette: [...palette, [0, 0, 0]] }),
			delay: delayMs,
			transparent: before !== undefined,
			transparentIndex: unchanged,
			dispose: 1,
		});
		previous = indexed;
	}
	encoder.finish();
	return encoder.bytes();
}

/** The pixels of some frames, one after the other. */
function samplePixels(frames: readonly Frame[]): Uint8Array {
	const every = Math.ceil(frames.length / PALETTE_FRAMES);
	const samples = frames.filter((_, index) => index % every === 0);
	return Buffer.concat(samples.map(({ pixels }) => pixels));
}
