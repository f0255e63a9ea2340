import { showReply, shownInStream } from '../../nodes/shared/chat/chatStream';

const DELTAS = [
	{ reasoning: 'Let me ', content: '', progress: [{ type: 'tool_start', tool: 'search' }] },
	{ reasoning: 'think.', content: '', progress: [] },
	{ reasoning: '', content: 'The ', progress: [{ type: 'other' }] },
	{ reasoning: '', content: 'sea.', progress: [] },
];

/** The texts that each chunk shows, and whether it shows any of the reply. */
function shown(show: Parameters<typeof showReply>[1]) {
	let texts = '';
	const onDelta = showReply((text) => (texts += text), show)!;
	return DELTAS.map((delta) => {
		texts = '';
		const isShown = onDelta(delta);
		return `${texts}|${isShown}`;
	});
}

test.each([
	['the answer only', { reasoning: false }, ['|false', '|false', 'The |true', 'sea.|true']],
	[
		'the reasoning, an empty line and the answer',
		{ reasoning: true },
		['Let me |true', 'think.|true', '\n\nThe |true', 'sea.|true'],
	],
	[
		'tool progress in lines of its own',
		{ reasoning: false, tools: true },
		['\n\n> Running search\n\n|false', '|false', 'The |true', 'sea.|true'],
	],
])('live text is %s', (_name, show, expected) => {
	expect(shown(show)).toStrictEqual(expected);
});

test('where nobody sees the reply there is nothing to show it with', () => {
	expect(showReply(undefined, { reasoning: true })).toBeUndefined();
});

describe('the API key in a text that arrives in pieces', () => {
	const KEY = 'sk-0f4e/very+sesame-app';
	/** With an app code at its end, and what may be the API key in it. */
	const keys = [KEY, 'sk-0f4e/very+sesame'];
	const inChat = (...pieces: readonly string[]) => {
		const next = shownInStream(keys, () => false);
		return [...pieces.map((piece) => next(piece)), next('', 'whole')];
	};

	test('only what may begin the key waits for the next piece', () => {
		expect(inChat('Tall', 'ask', 's, and sk-', 'is')).toStrictEqual([
			...['Tall', 'a', 'sks, and ', 'sk-i', 's'],
		]);
	});

	test.each(keys)('%s is masked wherever it is cut', (key) => {
		for (let at = 1; at < key.length; at++)
			expect(inChat(`One ${key.slice(0, at)}`, `${key.slice(at)} two`).join('')).toBe(
				'One [masked: API Key] two',
			);
		expect(inChat(...Array.from(`One ${key} two`)).join('')).toBe('One [masked: API Key] two');
	});

	test('a key at the end, a beginning of one at the end, and one after another', () => {
		expect(inChat(`One ${KEY}`).join('')).toBe('One [masked: API Key]');
		expect(inChat('A desk-sk-0f').join('')).toBe('A desk-sk-0f');
		expect(inChat(...Array.from(`${KEY}${KEY}`)).join('')).toBe('[masked: API Key]'.repeat(2));
	});

	test('where no visitor reads it, nothing is changed', () => {
		const next = shownInStream([], undefined);
		expect([next(`One ${KEY}`), next('', 'whole')]).toStrictEqual([`One ${KEY}`, '']);
	});
});
