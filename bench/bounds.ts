/**
 * The most that ratios of a quick run may be, by question. A guard run answers the questions that stand here: those whose
 * ratios move little when the machine is busy. A bound lies well above what is measured: it is to catch what makes
 * something twice as slow, not a few percent.
 */
export const BOUNDS: Readonly<Record<string, Readonly<Record<string, number>>>> = {
	'many-chats': {
		'many-chats-cpu0-vs-http': 1,
		'many-chats-cpu0-vs-chain': 0.9,
		'many-chats-wall200-vs-chain': 1.2,
	},
	'first-word': {
		'first-word-vs-agent': 1.4,
		'first-word-chunk-vs-agent': 1.4,
	},
	'reading-streams': {
		'reading-large-vs-limit': 2,
		'reading-large-vs-openai': 0.4,
		'reading-small-vs-openai': 0.5,
	},
	'agent-loop': {
		'agent-round-branch-vs-agent': 1.3,
		'agent-round-calculator-vs-agent': 1.1,
	},
	scale: {
		'scale-growth-chat': 2,
		'scale-growth-tasks': 2.5,
	},
};
