import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import type { Form } from '../../nodes/client/chat/verdict';

const FOLDER = join(__dirname, '../fixtures/replies');

/** What a reply is, for an agent that has tools. */
interface Expected {
	readonly content: string | null;
	readonly reasoning?: string;
	readonly calls?: readonly { readonly name: string; readonly arguments: object }[];
	readonly form: Form;
	/** The content without a thought in it, and what a live chat shows of it: it cannot know of a thought that has no beginning. */
	readonly shown?: string;
	readonly live?: string;
	readonly finish?: null;
	readonly usage?: object | null;
}

/** A reply in a file: a stream (`sse`) or a body (`json`). */
export interface Recorded {
	readonly file: string;
	readonly type: string;
	readonly text: string;
	readonly expected: Expected;
}

const TYPES = { sse: 'text/event-stream', json: 'application/json' } as const;

/** All replies of test/fixtures/replies. */
export const RECORDED: readonly Recorded[] = readdirSync(FOLDER)
	.filter((file) => !file.endsWith('.expected.json'))
	.map((file) => {
		const [name = '', extension] = file.split('.');
		const read = (each: string) => readFileSync(join(FOLDER, each), 'utf8');
		const expected = JSON.parse(read(`${name}.expected.json`)) as Expected;
		return { file, type: TYPES[extension as keyof typeof TYPES], text: read(file), expected };
	});
