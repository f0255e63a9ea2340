/** What waits until it is opened. */
export function gate() {
	let open: () => void = () => undefined;
	const passed = new Promise<void>((resolve) => {
		open = resolve;
	});
	return { passed, open };
}
