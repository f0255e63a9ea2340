/** See thirdPartyNotices.js. */
export function thirdPartyNotices(files: readonly string[]): string;
