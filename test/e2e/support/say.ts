/** Shows what a long preparation is at, past jest, which shows nothing before the tests. */
export function say(text: string): void {
	process.stderr.write(`${text}\n`);
}
