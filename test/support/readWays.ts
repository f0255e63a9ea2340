/**
 * Reads connections, as `weather > Both#1 > Agent; If:1 > Agent, Other`: `:1` is the second output, `#1` the second input, and
 * nothing behind the last arrow an output without a connection.
 */
export function readWays(text: string): Record<string, string[][]> {
	const ways: Record<string, string[][]> = {};
	for (const way of text.split(';').filter((each) => each.trim() !== '')) {
		const steps = way.split('>').map((step) => step.trim());
		steps.slice(1).forEach((targets, index) => {
			const [, name = '', output = 0] = /^([^:#]+)(?:#\d)?(?::(\d))?$/.exec(steps[index]!)!;
			const outputs = (ways[name] ??= []);
			while (outputs.length <= Number(output)) outputs.push([]);
			const names = targets.split(',').map((each) => each.trim().split(':')[0]!);
			outputs[Number(output)]!.push(...names.filter(Boolean));
		});
	}
	return ways;
}
