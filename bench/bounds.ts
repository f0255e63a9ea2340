/**
 * The most that ratios of a quick run may be, by question. A guard run answers the questions that stand here: those whose
 * ratios move little when the machine is busy. A bound lies well above what is measured: it is to catch what makes
 * something twice as slow, not a few percent.
 */
export const BOUNDS: Readonly<Record<string, Readonly<Record<string, number>>>> = {
	'many-chats': {
		'many-chats-cpu0-vs-http': 1.8,
		'many-chats-cpu0-vs-chain': 1.4,
		'many-chats-wall200-vs-chain': 1.4,
	},
	'reading-streams': {
		'reading-large-vs-limit': 3,
		'reading-large-vs-openai': 0.6,
		'reading-small-vs-openai': 1,
	},
};
