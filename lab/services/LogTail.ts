/** Keeps the last lines of what a program printed, for the error that tells why it failed. */
export class LogTail {
	private lines: readonly string[] = [];

	constructor(private readonly maxLines = 30) {}

	/** Takes a piece of output; pieces may split lines anywhere. */
	add(piece: Buffer | string): void {
		const [open = '', ...rest] = piece.toString().split('\n');
		const last = this.lines.at(-1) ?? '';
		this.lines = [...this.lines.slice(0, -1), last + open, ...rest].slice(-this.maxLines - 1);
	}

	/** The last lines, without empty ones at the end. */
	get text(): string {
		return this.lines.join('\n').trimEnd();
	}
}
