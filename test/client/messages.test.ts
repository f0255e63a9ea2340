import {
	checkOrder,
	lastTurn,
	limitMemory,
	restoreReplies,
	toKeep,
	userMessage,
	withMemory,
} from '../../nodes/client/chat/messages';
import { toolCall } from '../../nodes/client/chat/toolCalls';
import type { ChatMessage, ToolCall } from '../../nodes/client/chat/types';
import { isSignedUrl } from '../../nodes/shared/engine/request';
import { seededRandom } from '../support/seededRandom';

const system: ChatMessage = { role: 'system', content: 'Be brief' };
const user = (content = 'Hi'): ChatMessage => ({ role: 'user', content });
const says = (content: string): ChatMessage => ({ role: 'assistant', content });
const calls = (...tool_calls: ToolCall[]): ChatMessage => ({
	...{ role: 'assistant', content: null },
	tool_calls,
});
const asks = (...ids: string[]) => calls(...ids.map((id) => toolCall(id, 'weather', '{}')));
const result = (id: string): ChatMessage => ({ role: 'tool', tool_call_id: id, content: id });
const image = (url: string) => ({ type: 'image_url', image_url: { url } }) as const;

test('the images of a user message come after its text', () => {
	const [first, second] = ['https://example.com/a.png', 'https://example.com/b.png'];
	expect(userMessage('What is this?', [first, second])).toStrictEqual({
		role: 'user',
		content: [{ type: 'text', text: 'What is this?' }, image(first), image(second)],
	});
});

/** A question, a round of tool calls for each list of IDs, and the answer. */
const turn = (name: string, ...rounds: string[][]): ChatMessage[] => [
	user(name),
	...rounds.flatMap((ids) => [asks(...ids), ...ids.map(result)]),
	says(`${name}!`),
];

test.each([
	['after the system message', [system, user()], [system, ...turn('a'), user()]],
	['first without one', [user()], [...turn('a'), user()]],
	[
		'before earlier messages',
		[system, ...turn('b'), user()],
		[system, ...turn('a'), ...turn('b'), user()],
	],
])('the memory goes %s', (_name, messages, expected) => {
	expect(withMemory(turn('a'), messages)).toStrictEqual(expected);
});

test.each<[string, ChatMessage[], number]>([
	['is the question', [system, user('Hi')], 1],
	['begins with the first of several user messages', [...turn('a'), user('b'), user('c')], 2],
	['has the tool calls after the question', [system, ...turn('a', ['1']).slice(0, -1)], 1],
	['is empty without a question', [system], 1],
])('the last turn %s', (_name, messages, start) => {
	expect(lastTurn(messages)).toBe(start);
});

describe('what is kept of a turn', () => {
	const text = { type: 'text', text: 'Look' } as const;
	const own = image('https://example.com/a.png');
	const signed = image('https://n8n.example/rest/binary-data/signed?token=a.b.c');
	const gone = { type: 'text', text: '[image, no longer available]' } as const;
	test.each<[string, ChatMessage[], ChatMessage[]]>([
		['no system message', [system, user(), system, says('Yes')], [user(), says('Yes')]],
		[
			'public URLs of images, but no signed URLs of this n8n',
			[{ role: 'user', content: [text, signed, own] }],
			[{ role: 'user', content: [text, gone, own] }],
		],
		[
			'a text instead of an empty reply, which no service would take back',
			[user(), { role: 'assistant', content: null }],
			[user(), says('[reply without text]')],
		],
		['tool calls', [asks('1')], [asks('1')]],
	])('%s', (_name, messages, kept) => {
		expect(toKeep(messages, isSignedUrl)).toStrictEqual(kept);
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

describe('replies of the model among rebuilt messages', () => {
	const WEATHER = toolCall('1', 'weather', '{ "city": "Rome" }');
	const TIME = toolCall('2', 'time', '{ "at": [ { "city": "Rome" } ] }');
	const REPLY: ChatMessage = { ...calls(WEATHER, TIME), reasoning_content: 'Two things.' };
	const results = [result('1'), result('2')];
	const oslo = calls(toolCall('1', 'weather', '{"city":"Oslo"}'));
	const first: ChatMessage = { ...calls(WEATHER), reasoning_content: 'one' };
	const second: ChatMessage = { ...oslo, reasoning_content: 'two' };
	const rome = calls(toolCall('1', 'weather', '{"city":"Rome"}'));

	test.each<[string, ChatMessage[], ChatMessage[], ChatMessage[]]>([
		[
			'calls in one message get their reasoning and original arguments back',
			[
				user(),
				calls(
					toolCall('1', 'weather', '{"city":"Rome"}'),
					toolCall('2', 'time', '{"at":[{"city":"Rome"}]}'),
				),
				...results,
			],
			[REPLY],
			[user(), REPLY, ...results],
		],
		[
			'calls in separate messages are merged into the original reply',
			[
				user(),
				calls(toolCall('1', 'weather', '{"city":"Rome","id":"1"}')),
				result('1'),
				calls(toolCall('2', 'time', '{"at":[{"city":"Rome"}],"id":"2"}')),
				result('2'),
			],
			[REPLY],
			[user(), REPLY, ...results],
		],
		[
			'an id that is reused in another round is another call',
			[rome, result('1'), oslo, result('1')],
			[first, second],
			[first, result('1'), second, result('1')],
		],
	])('%s', (_name, messages, replies, restored) => {
		expect(restoreReplies(messages, replies)).toStrictEqual(restored);
	});

	test.each<[string, ChatMessage[], ChatMessage[]]>([
		['the same call in two rounds', [rome, result('1'), user(), rome, result('1')], [rome]],
		['twice in a row', [rome, result('1'), rome, result('1')], [rome, { ...rome }]],
		['another name', [calls(toolCall('1', 'wether', '{"city":"Rome"}'))], [first]],
		['another value', [oslo], [first]],
		['no arguments', [calls(toolCall('1', 'weather', ''))], [first]],
		['another ID', [calls(toolCall('9', 'weather', '{"city":"Rome"}'))], [first]],
		[
			'a list of another length',
			[calls(toolCall('2', 'time', '{"at":[{"city":"Rome"},{}]}'))],
			[REPLY],
		],
	])('stay as they are: %s', (_name, messages, replies) => {
		expect(restoreReplies(messages, replies)).toStrictEqual(messages);
	});
});
