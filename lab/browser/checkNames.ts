/**
 * Checks the names that a command was given.
 *
 * @throws Error that lists the known names if one is unknown.
 */
export function checkNames(names: readonly string[], known: readonly string[]): void {
	const unknown = names.filter((name) => !known.includes(name));
	if (unknown.length === 0) return;
	throw new Error(`Unknown name ${unknown.join(', ')}. Choose from: ${known.join(', ')}`);
}
