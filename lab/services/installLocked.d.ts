/** Installs the packages of a package-lock.json, and replaces node_modules. */
export function installLocked(
	folder: string,
	options: {
		readonly npmArgs: readonly string[];
		readonly onProgress?: (text: string) => void;
	},
): Promise<void>;
