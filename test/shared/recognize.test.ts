import type { Call } from '../../nodes/shared/ledger/call';
import { recognize } from '../../nodes/shared/ledger/recognize';

interface Named extends Call {
	readonly name: string;
}

/** What changes in a text with `now` is its own: the input item is equal. */
const namesOf = (text: string, key: string) => ({
	fingerprint: `${key} ${text}`,
	values: text,
	place: text.replace(/ at .*| \d.*/, ''),
	key,
	call: '',
	about: '',
});

/** A call of an earlier try: what was entered, then the position of its item and of its run. */
const earlier = (text: string, item: number, run = 0, key = ''): Named => ({
	name: `${text} of run ${run}, item ${item}`,
	...namesOf(text, key),
	run,
	item,
});
const asked = (text: string, item: number, key = ''): Call => ({
	...namesOf(text, key),
	run: 0,
	item,
});

const recognizedNames = (found: ReadonlyMap<number, Named>) =>
	Object.fromEntries([...found].map(([item, { name }]) => [item, name]));
const recognized = (items: readonly Call[], calls: readonly Named[], run: number | 'tool' = 0) => {
	const ofRun = items.map((each) => ({ ...each, run: Number(run) }));
	return recognizedNames(recognize(ofRun, calls, run === 'tool'));
};

test('an item has the call with its text, wherever its item was', () => {
	const calls = [earlier('boat', 0), earlier('kite', 1), earlier('lamp', 2)];
	expect(recognized([asked('lamp', 0), asked('boat', 1), asked('kite', 2)], calls)).toStrictEqual(
		{
			0: 'lamp of run 0, item 2',
			1: 'boat of run 0, item 0',
			2: 'kite of run 0, item 1',
		},
	);
});

test('of several calls with one text an item has the one at its position', () => {
	const calls = [0, 1, 2].map((item) => earlier('boat', item));
	expect(recognized([asked('boat', 2), asked('boat', 1)], calls)).toStrictEqual({
		1: 'boat of run 0, item 1',
		2: 'boat of run 0, item 2',
	});
});

test('the oldest calls are taken where none is at the position', () => {
	const calls = [5, 6, 7].map((item) => earlier('boat', item));
	expect(recognized([asked('boat', 0), asked('boat', 1)], calls)).toStrictEqual({
		0: 'boat of run 0, item 5',
		1: 'boat of run 0, item 6',
	});
});

test('texts that all differ, as with $now, are recognized by their positions', () => {
	const calls = [0, 1, 2].map((item) => earlier(`boat at 12:0${item}`, item));
	const items = [0, 1, 2, 3].map((item) => asked(`boat at 13:0${item}`, item));
	expect(recognized(items, calls)).toStrictEqual({
		0: 'boat at 12:00 of run 0, item 0',
		1: 'boat at 12:01 of run 0, item 1',
		2: 'boat at 12:02 of run 0, item 2',
	});
});

test('a text is preferred to a position, and no call is used twice', () => {
	const calls = [earlier('boat', 0), earlier('now 12:00', 1)];
	const items = [asked('now 13:00', 0), asked('boat', 1), asked('boat', 2)];
	// Item 0 has the position of a call that belongs to item 1.
	expect(recognized(items, calls)).toStrictEqual({ 1: 'boat of run 0, item 0' });
});

test('a mixture of constant and changing texts', () => {
	const calls = [
		earlier('boat', 0),
		earlier('now 12:00', 1),
		earlier('kite', 2),
		earlier('now 12:01', 3),
	];
	const items = [
		asked('kite', 0),
		asked('now 13:00', 1),
		asked('boat', 2),
		asked('now 13:01', 3),
		asked('new', 4),
	];
	expect(recognized(items, calls)).toStrictEqual({
		0: 'kite of run 0, item 2',
		1: 'now 12:00 of run 0, item 1',
		2: 'boat of run 0, item 0',
		3: 'now 12:01 of run 0, item 3',
	});
});

test('a position is one of a run', () => {
	const calls = [earlier('now 12:00', 0, 0), earlier('now 12:01', 0, 1)];
	expect(recognized([asked('now 13:00', 0)], calls, 1)).toStrictEqual({
		0: 'now 12:01 of run 1, item 0',
	});
	expect(recognized([asked('now 13:00', 0)], calls, 2)).toStrictEqual({});
});

test('a key never gets the call of another key, nor one without a key', () => {
	// The key is in the item.
	const withItem = <C extends Call>(call: C): C => ({ ...call, place: `item of ${call.key}` });
	const calls = [earlier('boat', 0, 0, 'order 1'), earlier('kite', 1)].map(withItem);
	expect(
		recognized([asked('boat', 0, 'order 2'), asked('kite', 1, 'order 3')].map(withItem), calls),
	).toStrictEqual({});
	expect(recognized([asked('boat', 0)].map(withItem), calls)).toStrictEqual({});
	expect(recognized([asked('lamp', 1, 'order 1')].map(withItem), calls)).toStrictEqual({
		1: 'boat of run 0, item 0',
	});
});

test('an equal item has its call whatever its key is now, as one with a time in it', () => {
	const calls = [earlier('boat', 0, 0, 'key at 12:00'), earlier('kite', 1, 0, 'key at 12:01')];
	expect(recognized([asked('boat', 0, 'key at 13:00')], calls)).toStrictEqual({
		0: 'boat of run 0, item 0',
	});
	expect(recognized([asked('boat', 1, 'key at 13:00')], calls)).toStrictEqual({
		1: 'boat of run 0, item 0',
	});
	expect(recognized([asked('lamp', 1, 'key at 13:00')], calls)).toStrictEqual({});
});

test('tools: the call with the text, or the oldest one, whatever the position', () => {
	const calls = [earlier('boat', 0), earlier('kite', 0), earlier('lamp', 0)];
	expect(recognized([asked('kite', 0)], calls, 'tool')).toStrictEqual({
		0: 'kite of run 0, item 0',
	});
	expect(recognized([asked('sail', 4)], calls, 'tool')).toStrictEqual({
		4: 'boat of run 0, item 0',
	});
});

describe('the effort grows with the number of items, not with its square', () => {
	/** How often calls are read or looked up, for so many items and as many earlier calls. */
	function steps(count: number, textOf: (index: number) => string): number {
		let total = 0;
		const watch = <C extends object>(call: C): C =>
			new Proxy(call, {
				get(target, name) {
					total += 1;
					return Reflect.get(target, name) as unknown;
				},
			});
		const indexes = [...Array(count).keys()];
		const calls = indexes.map((index) => watch(earlier(textOf(index), index + 1)));
		const items = indexes.map((index) => watch(asked(textOf(count - index), index)));
		const lookUps = jest.spyOn(Set.prototype, 'has');
		const found = recognize(items, calls);
		total += lookUps.mock.calls.length;
		lookUps.mockRestore();
		expect(found.size).toBeGreaterThan(count - 2);
		expect(new Set(found.values()).size).toBe(found.size);
		return total;
	}

	test.each([
		['other texts', (index: number) => `text ${index}`],
		['one text', () => 'text'],
		['few texts', (index: number) => `text ${index % 3}`],
	])('%s', (_name, textOf) => {
		expect(steps(10_000, textOf) / steps(1_000, textOf)).toBeLessThan(11);
	});
});
