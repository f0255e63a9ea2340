import font from 'oled-font-5x7';

/** A filled rectangle: left, top, width and height in pixels. */
export type Rectangle = readonly [x: number, y: number, width: number, height: number];

/** A letter with the gap to its neighbor, in pixels of the font. */
const CELL = { width: font.width + 1, height: font.height + 3 };

/** Lines of at most `length` characters, broken between words; a longer word is cut. */
function wrap(text: string, length: number): readonly string[] {
	const lines: string[] = [];
	for (const word of text.split(' ')) {
		const piece = word.slice(0, length);
		const line = `${lines.at(-1) ?? ''} ${piece}`;
		if (lines.length > 0 && line.length <= length) lines.splice(-1, 1, line);
		else lines.push(piece);
	}
	return lines;
}

/** The set pixels of a line of text; each column of a letter is a byte with its top pixel in the lowest bit. */
function pixelsOf(line: string): readonly (readonly [x: number, y: number])[] {
	const columns = line.split('').flatMap((letter) => {
		const first = font.lookup.indexOf(letter) * font.width;
		return [...font.fontData.slice(first, first + font.width), 0];
	});
	const rows = [...Array(font.height).keys()];
	return columns.flatMap((bits, x) =>
		rows.filter((y) => (bits >> y) & 1).map((y) => [x, y] as const),
	);
}

/**
 * Text as rectangles, in a pixel font that fills the width with `lineLength` characters; each line is centered.
 *
 * @param text Latin letters without accents, digits and spaces.
 * @param area.top The upper end of the first line.
 */
export function pixelText(
	text: string,
	area: { readonly width: number; readonly top: number; readonly lineLength: number },
): readonly Rectangle[] {
	const pixel = Math.floor(area.width / (area.lineLength * CELL.width));
	return wrap(text, area.lineLength).flatMap((line, index) => {
		const left = Math.floor((area.width - line.length * CELL.width * pixel) / 2);
		const top = area.top + index * CELL.height * pixel;
		return pixelsOf(line).map(
			([x, y]) => [left + x * pixel, top + y * pixel, pixel, pixel] as const,
		);
	});
}
