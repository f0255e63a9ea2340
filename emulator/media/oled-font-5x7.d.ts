/** A pixel font: the letters of `lookup`, each as `width` bytes in `fontData`. */
declare module 'oled-font-5x7' {
	const font: {
		readonly width: number;
		readonly height: number;
		readonly fontData: readonly number[];
		readonly lookup: readonly string[];
	};
	export default font;
}
