/** The part of gifenc that the pictures use; the package has no types. */
declare module 'gifenc' {
	type Palette = readonly (readonly [number, number, number])[];

	interface FrameOptions {
		/** Required for the first frame: the palette of all frames. */
		readonly palette?: Palette;
		/** In milliseconds. */
		readonly delay: number;
		readonly transparent?: boolean;
		readonly transparentIndex?: number;
		/** 1 keeps the frame below the next one. */
		readonly dispose?: number;
	}

	export function GIFEncoder(): {
		writeFrame(index: Uint8Array, width: number, height: number, options: FrameOptions): void;
		finish(): void;
		bytes(): Uint8Array;
	};
	/** Chooses the colors of a palette for RGBA pixels. */
	export function quantize(pixels: Uint8Array, maxColors: number): Palette;
	/** Finds the nearest color of the palette for each of the RGBA pixels. */
	export function applyPalette(pixels: Uint8Array, palette: Palette): Uint8Array;
}
