/** Runs `work` while no other process of this checkout writes or copies `dist`. */
export function withBuildLock<T>(work: () => Promise<T>): Promise<T>;
