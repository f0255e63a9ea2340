/** Keeps the last lines of a program's output, for the error message if it fails. */
export class LogTail {
	private lines: readonly string[] = [];

	constructor(private readonly maxLines = 30) {}

	/** Adds a chunk of output. Chunks may split lines anywhere. */
	add(chunk: Buffer | string): void {
		const [open = '', ...rest] = chunk.toString().split('\n');
		const last = this.lines.at(-1) ?? '';
		this.lines = [...this.lines.slice(0, -1), last + open, ...rest].slice(-this.maxLines - 1);
	}

	/** The last lines, without trailing empty lines. */
	get text(): string {
		return this.lines.join('\n').trimEnd();
	}
}
