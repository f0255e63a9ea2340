import { isSignedUrl } from '../../nodes/shared/engine/request';
import {
	checkOrder,
	lastTurn,
	limitMemory,
	toKeep,
	withMemory,
} from '../../nodes/client/chat/messages';
import type { ChatMessage } from '../../nodes/client/chat/types';
import { seededRandom } from '../support/seededRandom';

const system: ChatMessage = { role: 'system', content: 'Be brief' };
const user = (content: string): ChatMessage => ({ role: 'user', content });
const says = (content: string): ChatMessage => ({ role: 'assistant', content });
const asks = (...ids: string[]): ChatMessage => ({
	role: 'assistant',
	content: null,
	tool_calls: ids.map((id) => ({
		id,
		type: 'function',
		function: { name: 'weather', arguments: '{}' },
	})),
});
const result = (id: string): ChatMessage => ({ role: 'tool', tool_call_id: id, content: id });
/** A question, a round of tool calls for each list of IDs, and the answer. */
const turn = (name: string, ...rounds: string[][]): ChatMessage[] => [
	user(name),
	...rounds.flatMap((ids) => [asks(...ids), ...ids.map(result)]),
	says(`${name}!`),
];

describe('where the memory goes', () => {
	test.each([
		['after the system message', [system, user('Hi')], [system, ...turn('a'), user('Hi')]],
		['first without one', [user('Hi')], [...turn('a'), user('Hi')]],
		[
			'before earlier messages',
			[system, ...turn('b'), user('Hi')],
			[system, ...turn('a'), ...turn('b'), user('Hi')],
		],
	])('%s', (_name, messages, expected) => {
		expect(withMemory(turn('a'), messages)).toStrictEqual(expected);
	});
});

describe('the last turn', () => {
	test.each<[string, ChatMessage[], number]>([
		['is the question', [system, user('Hi')], 1],
		['begins with the first of several user messages', [...turn('a'), user('b'), user('c')], 2],
		['has the tool calls after the question', [system, ...turn('a', ['1']).slice(0, -1)], 1],
		['is empty without a question', [system], 1],
	])('%s', (_name, messages, start) => {
		expect(lastTurn(messages)).toBe(start);
	});
});

describe('what is kept of a turn', () => {
	const never = () => false;

	test('no system message', () => {
		expect(toKeep([system, user('Hi'), system, says('Yes')], never)).toStrictEqual([
			user('Hi'),
			says('Yes'),
		]);
	});

	test('public URLs of images, but no signed URLs of this n8n', () => {
		const image = (url: string) => ({ type: 'image_url', image_url: { url } }) as const;
		const text = { type: 'text', text: 'Look' } as const;
		const signed = image('https://n8n.example/rest/binary-data/signed?token=a.b.c');
		const own = image('https://example.com/a.png');
		expect(toKeep([{ role: 'user', content: [text, signed, own] }], isSignedUrl)).toStrictEqual(
			[
				{
					role: 'user',
					content: [text, { type: 'text', text: '[image, no longer available]' }, own],
				},
			],
		);
	});

	test('a text instead of an empty reply, which no service would take back', () => {
		const empty: ChatMessage = { role: 'assistant', content: null };
		expect(toKeep([user('Draw'), empty], never)).toStrictEqual([
			user('Draw'),
			says('[reply without text]'),
		]);
		expect(toKeep([asks('1')], never)).toStrictEqual([asks('1')]);
	});
});

describe('the limits', () => {
	const all = [...turn('a'), ...turn('b', ['1', '2']), ...turn('c')];

	test.each<[string, [messages: number, characters?: number], ChatMessage[]]>([
		['0 keeps everything', [0], all],
		['enough for everything', [9], all],
		['the oldest turn goes first', [8], all.slice(2)],
		['a turn goes as a whole', [6], turn('c')],
		['characters count as JSON', [0, 80], turn('c')],
		['what does not fit is forgotten', [0, 20], []],
	])('%s', (_name, limits, expected) => {
		expect(limitMemory(all, ...limits)).toStrictEqual(expected);
	});

	test('of a last turn that is too long, the question and the last rounds stay', () => {
		const long = [...turn('a'), ...turn('b', ['1', '2'], ['3'], ['4'])];
		expect(limitMemory(long, 7)).toStrictEqual(turn('b', ['3'], ['4']));
		expect(limitMemory(long, 3)).toStrictEqual(turn('b'));
	});

	test('what remains begins with a question, has all results, and is within the limits', () => {
		for (let seed = 0; seed < 500; seed += 1) {
			const random = seededRandom(seed);
			const upTo = (max: number) => Math.floor(random() * (max + 1));
			const messages = Array.from({ length: upTo(6) }, (_none, index) => {
				const rounds = Array.from({ length: upTo(3) }, (_each, round) =>
					Array.from({ length: 1 + upTo(2) }, (_call, call) => `${round}-${call}`),
				);
				const whole = turn(`q${index}${'x'.repeat(upTo(50))}`, ...rounds);
				// A conversation that was stopped ends with a tool result.
				return rounds.length > 0 && random() < 0.3 ? whole.slice(0, -1) : whole;
			}).flat();
			const [most, length] = [upTo(30), upTo(1) === 0 ? Infinity : upTo(2_000)];
			const kept = limitMemory(messages, most, length);

			checkOrder([...kept, user('next')], `Seed ${seed}`);
			expect(kept[0]?.role ?? 'user').toBe('user');
			expect(kept.length).toBeLessThanOrEqual(most || Infinity);
			const characters = kept.map((each) => JSON.stringify(each)).join('').length;
			expect(characters).toBeLessThanOrEqual(length);
			// The newest stays.
			if (kept.length > 0) expect(kept.at(-1)).toBe(messages.at(-1));
			expect(limitMemory(kept, most, length)).toStrictEqual(kept);
		}
	});
});
