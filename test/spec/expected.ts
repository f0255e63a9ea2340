// Matchers of Jest without the type any.

export const anything = (type: unknown) => expect.any(type) as unknown;
export const matching = (pattern: RegExp) => expect.stringMatching(pattern) as unknown;
export const containing = (text: string) => expect.stringContaining(text) as unknown;
