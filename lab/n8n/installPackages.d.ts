/** Installs the packages of the n8n in this folder, and keeps that this step is done. */
export function installPackages(home: string): Promise<void>;

/** The steps that are done for the packages that the folder asks for now. */
export function stepsDone(home: string): string[];

/** Keeps the steps that are done. */
export function keepSteps(home: string, done: readonly string[]): void;
