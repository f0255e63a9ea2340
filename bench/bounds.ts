/** The most that a ratio of a quick run may be; generous, because other work on the machine moves them. */
export const BOUNDS: Readonly<Record<string, number>> = {
	'many-chats-wall0-vs-chain': 1,
};
