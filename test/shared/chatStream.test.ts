import { showReply } from '../../nodes/shared/chat/chatStream';

const DELTAS = [
	{ reasoning: 'Let me ', content: '', progress: [{ type: 'tool_start', tool: 'search' }] },
	{ reasoning: 'think.', content: '', progress: [] },
	{ reasoning: '', content: 'The ', progress: [{ type: 'other' }] },
	{ reasoning: '', content: 'sea.', progress: [] },
];

/** The texts that each chunk shows, and whether it shows any of the reply. */
function shown(show: Parameters<typeof showReply>[1]) {
	let texts: string[] = [];
	const onDelta = showReply((text) => texts.push(text), show)!;
	return DELTAS.map((delta) => {
		texts = [];
		const isShown = onDelta(delta);
		return [...texts, isShown];
	});
}

test('live text is the answer only', () => {
	expect(shown({ reasoning: false })).toStrictEqual([
		[false],
		[false],
		['The ', true],
		['sea.', true],
	]);
});

test('live text optionally starts with the reasoning and an empty line', () => {
	expect(shown({ reasoning: true })).toStrictEqual([
		['Let me ', true],
		['think.', true],
		['\n\nThe ', true],
		['sea.', true],
	]);
});

test('tool progress optionally becomes lines of its own', () => {
	expect(shown({ reasoning: false, tools: true })[0]).toStrictEqual([
		'\n\n> Running search\n\n',
		false,
	]);
});

test('where nobody sees the reply there is nothing to show it with', () => {
	expect(showReply(undefined, { reasoning: true })).toBeUndefined();
});
