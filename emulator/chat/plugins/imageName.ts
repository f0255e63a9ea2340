/** What an image shows, as far as its address tells: `…/red-fox_2.jpg` → `red fox 2`. */
export function imageName(url: string): string {
	const file = new URL(url).pathname.split('/').at(-1) ?? '';
	const words = file.replace(/\.\w+$/, '').replace(/[-_+.%]+/g, ' ');
	return words.trim() || new URL(url).hostname;
}
