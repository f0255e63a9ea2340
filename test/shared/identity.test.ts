import type { PaidCall } from '../../nodes/shared/durable/call';
import { match, type Recognition } from '../../nodes/shared/durable/identity';
import { seededRandom } from '../support/seededRandom';

/** A call as `hash@run.item`, with `#key` if it has one. */
function call(text: string): PaidCall {
	const [, hash = '', run, item, key = ''] = /^(\w+)@(-?\d+)\.(\d+)(?:#(\w+))?$/.exec(text)!;
	return { call: text, hash, run: Number(run), item: Number(item), key, about: hash };
}

/** What each asked call gets: the earlier one, `refused by` the one at its place, or `new`. */
function matched(asked: string, earlier: string, recognition: Recognition = 'all') {
	const calls = asked.split(' ').map(call);
	const { found, inPlace } = match(
		calls,
		earlier.split(' ').filter(Boolean).map(call),
		recognition,
	);
	return calls.map((each) => {
		const other = inPlace.get(each);
		return found.get(each)?.call ?? (other ? `refused by ${other.call}` : 'new');
	});
}

test.each<[string, string, string, string[]]>([
	['the same items', 'a@0.0 b@0.1', 'a@0.0 b@0.1', ['a@0.0', 'b@0.1']],
	['nothing earlier', 'a@0.0', '', ['new']],
	['items in another order', 'b@0.0 a@0.1', 'a@0.0 b@0.1', ['b@0.1', 'a@0.0']],
	['equal items keep their places', 'a@0.1 a@0.0', 'a@0.0 a@0.1', ['a@0.1', 'a@0.0']],
	['equal items elsewhere: the oldest first', 'a@0.5 a@0.6', 'a@0.0 a@0.1', ['a@0.0', 'a@0.1']],
	['a call serves once', 'a@0.0 a@0.1', 'a@0.0', ['a@0.0', 'new']],
	['a place is not taken by an item before it', 'a@0.7 a@0.0', 'a@0.0', ['new', 'a@0.0']],
	['another text at a place whose call is left over', 'x@0.0', 'a@0.0', ['refused by a@0.0']],
	[
		'another text at a place whose call another item takes',
		'x@0.0 a@0.1',
		'a@0.0',
		['new', 'a@0.0'],
	],
	['a new item behind the others', 'a@0.0 x@0.1', 'a@0.0', ['a@0.0', 'new']],
	['the same place in another run is another place', 'x@1.0', 'a@0.0', ['new']],
	['the same text in another run', 'a@1.0', 'a@0.0', ['a@0.0']],
	['a round of a loop leaves the call of the next one', 'a@0.0', 'a@1.0 a@0.0', ['a@0.0']],
	['a call without a place', 'a@0.0', 'a@-1.0', ['a@-1.0']],
	['another text, beside a call without a place', 'x@0.0', 'a@-1.0', ['new']],
	[
		'a key says which of equal items it is',
		'a@0.5#k a@0.6#l',
		'a@0.0#l a@0.1#k',
		['a@0.1#k', 'a@0.0#l'],
	],
	['a key that is new each time', 'a@0.0#k2', 'a@0.0#k1', ['a@0.0#k1']],
	[
		'equal items with other keys keep their places',
		'a@0.1#k3 a@0.0#k4',
		'a@0.0#k1 a@0.1#k2',
		['a@0.1#k2', 'a@0.0#k1'],
	],
	['the same key and another text', 'x@0.0#k', 'a@0.0#k', ['refused by a@0.0#k']],
])('%s', (_name, asked, earlier, expected) => {
	expect(matched(asked, earlier)).toStrictEqual(expected);
});

test.each<[string, Recognition, string, string, string[]]>([
	['an item of a rest takes its own place', 'place', 'a@0.2', 'a@0.0 a@0.2', ['a@0.2']],
	['an item of a rest takes no other place', 'place', 'a@0.2', 'a@0.0', ['new']],
	['an item of a rest with another text', 'place', 'x@0.2', 'a@0.2', ['refused by a@0.2']],
	['tools in any order', 'hash', 'b@-1.0 a@-1.0', 'a@-1.0 b@-1.0', ['b@-1.0', 'a@-1.0']],
	['a tool that asks for something else', 'hash', 'x@-1.0', 'a@-1.0', ['new']],
])('%s', (_name, recognition, asked, earlier, expected) => {
	expect(matched(asked, earlier, recognition)).toStrictEqual(expected);
});

test('any items: each call serves once, for the same text only, and all that can be served are', () => {
	for (let seed = 0; seed < 300; seed++) {
		const random = seededRandom(seed);
		const draw = (length: number) => Math.floor(random() * length);
		const some = () =>
			Array.from({ length: draw(8) }, (_, item) =>
				call(`${'abc'[draw(3)]}@${draw(2)}.${item}${random() < 0.3 ? `#k${draw(2)}` : ''}`),
			);
		const [asked, earlier] = [some(), some()];
		for (const recognition of ['all', 'hash'] as const) {
			const { found, inPlace } = match(asked, earlier, recognition);
			expect(new Set(found.values()).size).toBe(found.size);
			for (const [one, other] of found) expect(other.hash).toBe(one.hash);
			const count = (calls: readonly PaidCall[], hash: string) =>
				calls.filter((each) => each.hash === hash).length;
			const served = ['a', 'b', 'c'].map((hash) =>
				Math.min(count(asked, hash), count(earlier, hash)),
			);
			expect(found.size).toBe(served.reduce((sum, each) => sum + each, 0));
			for (const [one, other] of inPlace) {
				expect([...found.values()]).not.toContain(other);
				expect([other.run, other.item]).toStrictEqual([one.run, one.item]);
			}
		}
	}
});
