export function runNpm(
	args: readonly string[],
	options: {
		readonly cwd: string;
		readonly env?: NodeJS.ProcessEnv;
		readonly onProgress?: (text: string) => void;
	},
): Promise<void>;
