// @seconds 15
import '../support/repeatOnce';
import { thorough } from '../support/thorough';
import { HOSTILE_TEXTS, ORDINARY_TEXTS, type Text } from './texts';
import { outsideFunctions } from './outsideFunctions';
import { READERS, WITHOUT_ROW, type Reader } from './readers';

/** Characters of the longest text: enough for quadratic work to take seconds, and for linear work to take milliseconds. */
const LENGTH = thorough(2 ** 16, 2 ** 20);
/** How much more a hostile text may cost than the ordinary text of the same length that costs the reader most. */
const MAX_RATIO = thorough(100, 50);
/**
 * How much more a text may cost than one of a quarter of its length: 4 is linear, 16 is quadratic. Quadratic work shows in
 * both steps from a sixteenth to the whole; garbage collection and fresh memory, which a long text needs, in one of them.
 */
const MAX_STEP = 9;
/**
 * CPU time that is fast, whatever it is compared with, in microseconds: a reader that looks at the length alone takes one
 * microsecond for an ordinary text, and a garbage collection takes thousands.
 */
const NOISE = thorough(10_000, 20_000);
/** CPU time after which a text is not read again, in microseconds. */
const TOO_SLOW = 2_000_000;

/** A text in the lengths that are compared. */
interface Sizes {
	readonly name: string;
	readonly whole: string;
	readonly quarter: string;
	/** A sixteenth: quadratic work shows in it before it takes minutes. */
	readonly short: string;
}

const sizesOf = ({ name, of }: Text): Sizes => ({
	name,
	whole: of(LENGTH),
	quarter: of(LENGTH / 4),
	short: of(LENGTH / 16),
});
const HOSTILE = HOSTILE_TEXTS.map(sizesOf);
const ORDINARY = ORDINARY_TEXTS.map(sizesOf);

/** CPU time of this thread so far, in microseconds: garbage is also collected, and code compiled, in other threads. */
function threadMicros(): number {
	// Linux brings the time of the thread up to date when that of the process is read.
	process.cpuUsage();
	const { user, system } = process.threadCpuUsage();
	return user + system;
}

/** The CPU time of reading a text once, in microseconds. */
async function cost(read: Reader['read'], text: string): Promise<number> {
	const run = read(text);
	const before = threadMicros();
	try {
		await run();
	} catch {
		// An error of the reader is an answer, too.
	}
	return threadMicros() - before;
}

/** The smallest cost of several readings: noise of the machine only adds to it. */
async function steadyCost(read: Reader['read'], text: string): Promise<number> {
	const costs = [await cost(read, text), await cost(read, text), await cost(read, text)];
	return Math.min(...costs);
}

/** Parses a text as often as a tool call's arguments: checked, compared with the schema, and read with exact integers. */
const parse: Reader['read'] = (text) => () => {
	for (let times = 1; times <= 2; times++) {
		try {
			JSON.parse(text);
		} catch {
			// It is no JSON to its end.
		}
	}
	return JSON.parse(text, (_key, value: unknown) => value) as unknown;
};

/**
 * Whether a reader of JSON costs little beyond parsing the text, in relation to parsing it: V8 needs 50 times as long for a
 * megabyte of opening brackets as for a sixteenth of it, more where memory is slow, and whatever touches an object of
 * 100,000 keys takes long. No other reader may parse.
 */
async function isParsing(reader: Reader, text: string, micros: number): Promise<boolean> {
	if (!reader.parsesJson) return false;
	const parsing = await steadyCost(parse, text);
	return micros - parsing < 3 * parsing;
}

/** What is wrong with the growth of the cost from the short text to the whole one, if anything. */
async function badGrowth(
	reader: Reader,
	{ whole, quarter, short }: Sizes,
	micros: number,
): Promise<string[]> {
	if (micros < NOISE) return [];
	/** By how much both steps exceed what is allowed, if they do. */
	async function steps(cost: number): Promise<readonly number[] | undefined> {
		const middle = await steadyCost(reader.read, quarter);
		if (cost < MAX_STEP * middle) return undefined;
		const least = await steadyCost(reader.read, short);
		return middle < MAX_STEP * least ? undefined : [middle / least, cost / middle];
	}
	// The second measurement decides.
	if ((await steps(micros)) === undefined) return [];
	const second = await steadyCost(reader.read, whole);
	const again = await steps(second);
	if (again === undefined || (await isParsing(reader, whole, second))) return [];
	return [
		`${again.map((each) => Math.round(each)).join(' and then ')} times for four times the text`,
	];
}

test.each(READERS)('$title takes linear time', async (reader) => {
	const { read } = reader;
	const units: number[] = [];
	for (const { whole } of ORDINARY) units.push(await steadyCost(read, whole));
	const unit = Math.max(...units);
	const limit = (times: number) => Math.max(NOISE, times * unit);
	/** Why the text costs too much, if it does. What seems so is measured again. */
	async function excess(sizes: Sizes): Promise<string[]> {
		for (const text of [sizes.short, sizes.whole]) {
			let micros = await cost(read, text);
			if (micros < limit(5)) continue;
			if (micros > limit(MAX_RATIO) && micros < TOO_SLOW)
				micros = await steadyCost(read, text);
			if (micros > limit(MAX_RATIO) && !(await isParsing(reader, text, micros)))
				return [`${Math.round(micros / unit)} times an ordinary text`];
			if (text === sizes.whole) return await badGrowth(reader, sizes, micros);
		}
		return [];
	}
	const slow: string[] = [];
	for (const [index, sizes] of ORDINARY.entries())
		slow.push(
			...(await badGrowth(reader, sizes, units[index]!)).map(
				(why) => `${sizes.name}: ${why}`,
			),
		);
	for (const sizes of HOSTILE)
		slow.push(...(await excess(sizes)).map((why) => `${sizes.name}: ${why}`));
	expect(slow).toEqual([]);
});

test('every function that text from outside may reach has a row, or a reason why it needs none', () => {
	const rows = READERS.map(({ title }) => title.split(' ', 1)[0]!);
	const isExcused = (name: string) =>
		WITHOUT_ROW.some((each) => each === name || name.startsWith(`${each}#`));
	const found = outsideFunctions();
	// showReply, sseDecoder and withChatStream take their text later.
	const later = /#(withJson|showReply|sseDecoder|withChatStream|pollResult|describeVideos)$/;
	expect({
		withoutRow: found.filter((name) => !rows.includes(name) && !isExcused(name)),
		rowsOfNothing: rows.filter((name) => !found.includes(name) && !later.test(name)),
		excusedNothing: WITHOUT_ROW.filter((each) => each.includes('#') && !found.includes(each)),
		excusedTwice: WITHOUT_ROW.filter((each) => rows.includes(each)),
	}).toEqual({ withoutRow: [], rowsOfNothing: [], excusedNothing: [], excusedTwice: [] });
});
