import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Whether a statement holds here. `silent`: the specification says that it does not show it, so that nothing can be checked. */
export type State = 'holds' | 'silent';

/** One statement of the specification, and what shows that it holds. */
export interface Statement {
	/** Section and number within it: `2.1.7`. */
	readonly id: string;
	/** The statement in a short sentence of our own. */
	readonly text: string;
	/** The nodes that it concerns, by the letters of NODE_LETTERS. */
	readonly nodes: string;
	/** Whether the emulator behaves like this; false also where there is nothing to imitate. */
	readonly isEmulated: boolean;
	/**
	 * The tests that show it: `walk: NAME` is a check of `walkChecks.ts`, `example: NAME` a call of `exampleCalls.ts`,
	 * `FILE: TITLE` a test of `test/FILE.test.ts`.
	 */
	readonly proofs: readonly string[];
	readonly state: State;
	/** Why it does not hold wholly, or how it is read. */
	readonly note?: string;
}

export interface Section {
	readonly number: string;
	readonly title: string;
	readonly statements: readonly Statement[];
}

/** The letters that stand for nodes in the rows. */
export const NODE_LETTERS: Readonly<Record<string, string>> = {
	C: 'Chat Completion',
	A: 'Agent with Tools',
	M: 'Chat Model',
	S: 'Super Assistant',
	V: 'Create Video',
	W: 'Wait for Video',
	K: 'Credential',
};

/**
 * A section: its number and title, then a row a line, its parts between bars: the statement; the nodes that it concerns, by
 * their letters; `emulator` where the emulator does it; the proofs; `note: ` with a note. `-` is nothing. What the
 * specification does not show is `silent`, after the statement.
 */
function section(text: string): Section {
	const [heading = '', ...rows] = text.trim().split('\n');
	const [, number = '', title = ''] = /^(\S+) (.*)$/.exec(heading)!;
	const statements = rows.map((line, index): Statement => {
		const [statement = '', nodes = '', emulator, ...more] = line.split(' | ');
		const isSilent = nodes === 'silent';
		const all = isSilent && emulator !== undefined ? [emulator] : more;
		const notes = all.filter((each) => each.startsWith('note: '));
		return {
			id: `${number}.${index + 1}`,
			text: statement,
			nodes: isSilent ? '' : nodes.replace('-', ''),
			isEmulated: emulator === 'emulator',
			proofs: all.filter((each) => !notes.includes(each)),
			state: isSilent ? 'silent' : 'holds',
			...(notes.length > 0 && { note: notes.join().slice('note: '.length) }),
		};
	});
	return { number, title, statements };
}

const [, ...PARTS] = readFileSync(join(__dirname, 'statements.txt'), 'utf8').split(/^## /m);

/** Every statement of the specification, section by section. */
export const SECTIONS: readonly Section[] = PARTS.map(section);
