/**
 * Upper bounds of the ratios of a quick run, by benchmark. `npm run bench -- --guard` runs the benchmarks listed here:
 * those whose ratios vary little on a busy machine. Each bound is well above the measured ratio, to catch a slowdown
 * by a factor of two, not by a few percent.
 */
export const BOUNDS: Readonly<Record<string, Readonly<Record<string, number>>>> = {
	'many-chats': {
		'many-chats-wall0-vs-http': 1.1,
		'many-chats-cpu0-vs-http': 1,
		'many-chats-cpu0-vs-chain': 0.9,
		'many-chats-wall200-vs-chain': 1.2,
		'many-chats-wall200-vs-plain': 1.6,
	},
	'first-token': {
		'first-token-vs-agent': 1.4,
		'first-token-chunk-vs-agent': 1.4,
		'first-token-burst-vs-agent': 0.8,
	},
	'reading-streams': {
		'reading-large-vs-baseline': 2,
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
