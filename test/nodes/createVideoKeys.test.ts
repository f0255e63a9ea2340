// cspell:ignore skoid
import { Readable } from 'node:stream';

import { Container } from '@n8n/di';
import { BinaryDataService } from 'n8n-core';
import type { IDataObject, INodeExecutionData } from 'n8n-workflow';

import { readExample } from '../../lab/n8n/readExample';
import { hashOf } from '../../nodes/shared/durable/identity';
import { TASK_TABLE } from '../../nodes/shared/durable/taskTable';
import {
	another,
	breakOff,
	byId,
	idsOf,
	movedClock,
	reject,
	reply,
	RETRY,
	retryAs,
	reusedOf,
	videoService,
	type More,
} from '../support/createdVideos';
import { packageNode, stubNode } from '../support/engine';
import { withFakeTimers } from '../support/fakeTimers';

const clock = movedClock();
const service = videoService();
const { create, restore, rowsOf, sent } = service;

/** The key is the first letter of the prompt. */
const BY_LETTER = { idempotencyKey: '={{ $json.prompt[0] }}', useExistingVideo: true };
const SERIAL = { concurrency: 1 };
const CONTINUE = { onError: 'continueErrorOutput' } as const;
/** Rejects an item, and with it those that were not sent yet. */
const REJECTED = reject(401);

describe('a key', () => {
	test('of several items of one run: the first one creates, the others get its task', async () => {
		const { outputs, hints } = await create(['a 1', 'b 1', 'a 2', 'a 3', 'a 1'], BY_LETTER);
		expect(hints.join()).toContain('Key of another item, other values, and its video: 2.');
		expect(sent().sort()).toStrictEqual(['a 1', 'b 1']);
		const again = Array<string>(3).fill('task-a 1, reused');
		expect(shownOf(outputs[0])).toStrictEqual(['task-a 1', 'task-b 1', ...again]);
	});

	test('of several items of one run: if the creation fails, all fail', async () => {
		service.answers = { 'a 1': [REJECTED] };
		const { outputs } = await create(['a 1', 'a 2', 'b 1'], BY_LETTER, CONTINUE);
		expect(outputs[1]).toHaveLength(2);
		expect(sent()).toHaveLength(2);
		expect(rowsOf()).toStrictEqual(['b 1 open']);
	});

	const oldTask = (more: IDataObject) => {
		service.tables.insert(TASK_TABLE, {
			task_id: 'old',
			idempotency_key: 'a',
			call: '0 x y',
			sent_at: '2020-01-01T00:00:00.000Z',
			...more,
		});
	};

	test('has one row after a kill between the answer and the removal of what announced it', async () => {
		oldTask({ task_id: '', status: 'sent' });
		oldTask({ status: 'open' });
		const { outputs } = await create(['a 1'], BY_LETTER);
		expect(sent()).toStrictEqual([]);
		expect(outputs[0]![0]!.json).toMatchObject({ task_id: 'old', reused: true });
		expect(service.tables.rows.map(({ status }) => status)).toStrictEqual(['open']);
	});

	const FINISHED = { status: 'done', finished_at: '2020-01-01T00:01:00.000Z' };
	test.each<[IDataObject, string, string, string]>([
		[{ status: 'open' }, 'pending', 'not finished', 'Tasks not finished'],
		// A row without a call, as a person makes it.
		[{ status: 'open', call: null }, 'pending', 'not finished', 'Tasks not finished'],
		[FINISHED, 'completed', 'completed', 'Tasks completed'],
	])('gives the task of a row with %j, and texts say so', async (cells, status, line, list) => {
		oldTask(cells);
		const { outputs } = await create(['a 1'], BY_LETTER);
		const output = `The video is ${line}: task old`;
		expect(outputs[0]![0]!.json).toMatchObject({
			...{ task_id: 'old', status, reused: true, output },
		});
		expect(sent()).toStrictEqual([]);
		service.answers = { 'b 2': [REJECTED] };
		const { error } = await create(['a 1', 'b 2'], BY_LETTER);
		expect(error!.description).toContain(`${list}: old.`);
	});

	test('is free again at once where its creation certainly failed, and where nothing was sent', async () => {
		const limited = await create(['a', 'b', 'c'], { ...BY_LETTER, maximumVideos: 2 });
		expect(limited.error!.message).toMatch(/^Maximum Videos is 2/);
		expect(service.tables.rows).toStrictEqual([]);
		service.answers = { a: [REJECTED] };
		const options = { ...BY_LETTER, ...SERIAL };
		await create(['a', 'b', 'c', 'd'], options, another('12'));
		expect(sent()).toStrictEqual(['a']);
		expect(service.tables.rows).toStrictEqual([]);
		const { outputs } = await create(['a'], BY_LETTER, another('13'));
		expect(reusedOf(outputs[0])).toStrictEqual([false]);
	});

	test('of a call without an answer is reported to the next execution', async () => {
		service.answers = { 'a 1': [breakOff] };
		await create(['a 1'], BY_LETTER);
		clock.aheadMs = 5 * 60_000;
		const { error } = await create(['a 2'], BY_LETTER, another('12'));
		expect(error!.description).toMatch(/may exist/);
		expect(`${error!.message} ${error!.description}`).toContain(TASK_TABLE.name);
		expect(sent()).toStrictEqual(['a 1']);
		// As the error says, a person decides.
		const [row] = service.tables.rows;
		restore([{ ...row, task_id: 'found' }]);
		const { outputs } = await create(['a 2'], BY_LETTER, another('13'));
		expect(idsOf(outputs[0])).toStrictEqual(['found']);
		restore([]);
		await create(['a 2'], BY_LETTER, another('14'));
		expect(sent()).toStrictEqual(['a 1', 'a 2']);
	});

	describe('after a kill', () => {
		const PROMPTS = ['a 1', 'b 1', 'c 1', 'd 1'];
		beforeEach(async () => {
			// Long beside every write: the answer of the first one is written before the second one is sent.
			service.taskIdOf = (prompt) => {
				clock.aheadMs += 5_000;
				return `task-${prompt}`;
			};
			await service.runKilledAt(
				'b 1',
				async () => await create(PROMPTS, { ...BY_LETTER, ...SERIAL }),
			);
			expect(rowsOf()).toStrictEqual(['a 1 open', 'b 1 sent', 'c 1 claimed', 'd 1 claimed']);
		});

		test('is known to the retry, which removes the claims', async () => {
			const { outputs } = await create(['a 2', 'c 2'], BY_LETTER, RETRY);
			expect(idsOf(outputs[0])).toStrictEqual(['task-a 1', 'task-c 2']);
			expect(sent()).toStrictEqual(['c 2']);
			expect(rowsOf()).toStrictEqual(['a 1 open', 'b 1 sent', 'c 2 open']);
		});

		test('gives another execution all videos, without a retry', async () => {
			// The one that was sent has no answer: a person settles it.
			restore(service.tables.rows.filter(({ status }) => status !== 'sent'));
			const { error, outputs } = await withFakeTimers(
				async () => await create(PROMPTS, BY_LETTER, another('12')),
			);
			expect(error).toBeUndefined();
			expect(reusedOf(outputs[0])).toStrictEqual([true, false, false, false]);
		});
	});

	test.each([
		['an item that is sent, not one that is known or left out', {}, 16, ['c 1', 'a 1', 'b 1']],
		['none after a stop', { 'a 1': [REJECTED] }, 0, ['c 1', 'a 1']],
	])('is kept through a long pause, before %s', async (_name, answers, minutes, expected) => {
		await create(['c 1'], BY_LETTER, another('12'));
		service.answers = answers;
		const batches = { ...SERIAL, batchInterval: 16 * 60_000, maximumVideos: 2 };
		const options = { ...BY_LETTER, ...batches, takeWhatFits: true };
		const passedMs = await withFakeTimers(async (time) => {
			await create(['c 1', 'a 1', 'b 1', 'd 1', 'e 1'], options);
			return time.passedMs();
		});
		expect(Math.floor(passedMs / 60_000)).toBe(minutes);
		expect(sent()).toStrictEqual(expected);
	});

	const heldBy = (status: string, key: string, more: IDataObject = {}) => {
		service.tables.insert(TASK_TABLE, {
			status,
			idempotency_key: key,
			token: 'token of another',
			execution_id: '9',
			sent_at: new Date().toISOString(),
			...more,
		});
	};

	// A word that is none of the ledger frees nothing.
	test.each(['sent', 'Claimed'])('is in use by a row %s: an error names it', async (status) => {
		heldBy(status, 'a');
		const { error } = await withFakeTimers(async () => await create(['a 1'], BY_LETTER));
		expect(error!.message).toBe('Idempotency Key is in use: an execution has no answer yet');
		expect(error!.description).toMatch(
			/ execution 9 has .* Enter its task_id in row \d+ of .*, or delete the row/,
		);
		expect(sent()).toStrictEqual([]);
	});

	test('is in use at once by a row that was sent at no time', async () => {
		heldBy('sent', 'a', { sent_at: null });
		const { error } = await create(['a 1'], BY_LETTER);
		expect(error!.message).toMatch(/^Idempotency Key is in use: /);
	});

	test('is kept while another key of the run is waited for', async () => {
		heldBy('sent', 'b');
		const [first, second] = await withFakeTimers(async () => {
			const long = create(['a 1', 'b 1'], BY_LETTER, CONTINUE);
			// The other key is still waited for.
			await new Promise((resolve) => setTimeout(resolve, 70_000));
			return await Promise.all([long, create(['a 2'], BY_LETTER, another('12'))]);
		});
		expect(sent()).toStrictEqual(['a 1']);
		expect(idsOf(first.outputs[0])).toStrictEqual(['task-a 1']);
		expect(second.outputs[0]![0]!.json).toMatchObject({ task_id: 'task-a 1', reused: true });
	});

	const EMPTY = ['Idempotency Key is empty', 'remove the option'];
	const sameForAll = (shown: string) => [
		`Idempotency Key is ${shown}, as for every item without a value`,
		'Enter an expression',
	];
	test.each([
		['   ', EMPTY],
		['={{ $json.none }}', EMPTY],
		['={{ null }}', EMPTY],
		['={{ $json.none !== undefined }}', sameForAll('false')],
		['={{ String($json.none) }}', sameForAll('undefined')],
		['={{ $json.none * 1 }}', sameForAll('NaN')],
		['={{ "[]" }}', sameForAll('[]')],
		['={{ JSON.stringify({}) }}', sameForAll('{}')],
		['={{ JSON.stringify([$json.none, { id: "" }]) }}', sameForAll('[null,{"id":""}]')],
		['={{ "" + ({}) }}', sameForAll('[object Object]')],
	])('%j is an error: all items would have one video', async (key, [message, remedy]) => {
		const { error } = await create(['a', 'b'], { idempotencyKey: key });
		expect(error!.message).toBe(message);
		expect(error!.description).toContain(remedy);
		expect(sent()).toStrictEqual([]);
	});

	test.each([
		['an expression-like text', '={{ $json.prompt }}'],
		['a text that begins with =', '=1+1'],
		['braces', 'a {{ $json.prompt }} b'],
		['quotes', `"it's" \`\${1}\` \\ '; DROP TABLE x --`],
		['wildcards', '%_*'],
		['line breaks', 'a\nb\r\nc'],
		['other alphabets', '№ 7 ☂ 注文 🎬'],
		['half a character', 'half \ud83d'],
		['NUL', 'a\0b'],
		['5,000 characters', 'x'.repeat(5_000)],
		['a number', 17],
		['an accent that is a character of its own', 'Cafe\u0301', 'Caf\u00e9'],
	])('can be %s', async (_name, key, same: string | number = key) => {
		const keyed = async (given: string | number, id: string) =>
			await create(
				[{ prompt: 'a', key: given }],
				{ idempotencyKey: '={{ $json.key }}' },
				another(id),
			);
		await keyed(key, '11');
		const { outputs } = await keyed(same, '12');
		expect(reusedOf(outputs[0])).toStrictEqual([true]);
		await keyed(`${key}!`, '13');
		expect(sent()).toHaveLength(2);
	});
});

const KEYED = { idempotencyKey: '={{ $json.id }}' };
const EXISTING = { ...KEYED, useExistingVideo: true };
const FAILED = { status: 'failed', error_message: 'The model crashed' };
let lastExecution = 100;

/** Creates the videos of these items in an execution of its own. */
const createIn = async (
	items: readonly IDataObject[],
	options: IDataObject = {},
	more: More = {},
) => await create(items, options, { ...another(String((lastExecution += 1))), ...more });
const ofKey = (id: number, ...prompts: readonly string[]) =>
	prompts.map((prompt) => ({ id, prompt }));

const shownOf = (items: readonly INodeExecutionData[] = []) =>
	items.map(({ json: { task_id, reused, attempt, error } }) =>
		[task_id ?? error, reused === true && 'reused', attempt && `attempt ${String(attempt)}`]
			.filter(Boolean)
			.join(', '),
	);

describe('the same key with other values', () => {
	const WAS_USED = 'Idempotency Key 1 was used with other values';
	beforeEach(async () => {
		await createIn(ofKey(1, 'A wedding'), KEYED);
		expect(sent()).toStrictEqual(['A wedding']);
	});

	test.each([
		[1, [...ofKey(2, 'A car'), ...ofKey(1, 'A sofa')]],
		// Within one run, too.
		[3, ofKey(3, 'A wedding', 'A sofa')],
	])('fails before anything is sent, and shows both: %d', async (key, items) => {
		const { error } = await createIn(items, KEYED);
		expect(error!.message).toBe(`Idempotency Key ${key} was used with other values`);
		expect(error!.description).toContain(
			'Nothing was sent. It was used for the prompt "A wedding" (video-m1, 5 s, 720P), and this item has the prompt "A sofa" (video-m1, 5 s, 720P), or other fields that differ. To get the existing video, switch on Use Existing Video. For a new video use another key.',
		);
		expect((error as Error & { context: object }).context).toMatchObject({ itemIndex: 1 });
		expect(sent()).toHaveLength(1);
		// The key of the other item is free again.
		expect(service.tables.rows).toHaveLength(1);
	});

	test('with On Error: Continue fails its item only', async () => {
		const items = [...ofKey(1, 'A sofa', 'A wedding'), ...ofKey(2, 'A car')];
		const { outputs } = await createIn(items, KEYED, CONTINUE);
		expect(shownOf(outputs[0])).toStrictEqual(['task-A wedding, reused', 'task-A car']);
		expect(shownOf(outputs[1])).toStrictEqual([WAS_USED]);
	});

	test('gives the existing video with Use Existing Video', async () => {
		const { outputs } = await createIn(ofKey(1, 'A wedding', 'A sofa', 'A sofa'), EXISTING);
		expect(shownOf(outputs[0])).toStrictEqual(Array(3).fill('task-A wedding, reused'));
		expect(outputs[0]![1]!.json['request']).toMatchObject({ prompt: 'A wedding' });
		expect(sent()).toHaveLength(1);
	});

	test('Use Existing Video is decided for each item', async () => {
		await createIn(ofKey(2, 'A wedding'), KEYED);
		const options = { ...KEYED, useExistingVideo: '={{ $json.id === 1 }}' };
		const items = [...ofKey(1, 'A sofa'), ...ofKey(2, 'A sofa')];
		const { error } = await createIn(items, options);
		expect(error!.message).toMatch(
			/^1 of 2 videos failed: item 1 \(Idempotency Key 2 was used with .* 1 has gone on: task-A wedding\./,
		);
		expect(sent()).toHaveLength(2);
	});

	test.each([
		{ model: byId('video-m2') },
		{ duration: 10 },
		{ aspectRatio: '1:1' },
		// The expression gives an equal item another text.
		{ prompt: '={{ $json.prompt }} in {{ $execution.id }}' },
	])('%j are other values', async (parameters) => {
		const { error } = await createIn(ofKey(1, 'A wedding'), KEYED, { parameters });
		expect(error!.message).toBe(WAS_USED);
	});

	test('another workflow has keys of its own', async () => {
		service.tables.edit(() => true, { workflow_id: 'another' });
		const first = await createIn(ofKey(1, 'An advert'), KEYED);
		const second = await createIn(ofKey(1, 'An advert'), KEYED);
		const shown = [first, second].flatMap(({ outputs }) => shownOf(outputs[0]));
		expect(shown).toStrictEqual(['task-An advert', 'task-An advert, reused']);
	});
});

describe('the URL of a file', () => {
	const FILES = 'https://files.example/';
	const withUrl = (url: string) => ({
		parameters: { references: { file: [{ kind: 'image', source: 'url', url }] } },
	});

	/** As the big stores sign the URL of a file. */
	const SIGNED_AGAIN: readonly (readonly [first: string, second: string])[] = [
		['X-Amz-Date=1&X-Amz-Expires=9&X-Amz-Signature=1', 'X-Amz-Date=2&X-Amz-Signature=2'],
		['x-amz-signature=1', 'X-Amz-Signature=2'],
		['AWSAccessKeyId=a&Expires=1&Signature=1', 'AWSAccessKeyId=b&Expires=2&Signature=2'],
		['X-Goog-Credential=a&X-Goog-Signature=1', 'X-Goog-Credential=b&X-Goog-Signature=2'],
		['GoogleAccessId=a&Expires=1&Signature=1', 'GoogleAccessId=a&Expires=2&Signature=2'],
		['sv=1&se=1&sr=b&sp=r&skoid=1&sig=1', 'sv=2&se=2&sr=b&sp=r&skoid=2&sig=2'],
		['Policy=a&Key-Pair-Id=1&Signature=a', 'Policy=b&Key-Pair-Id=2&Signature=b'],
		['x-oss-expires=1&x-oss-signature=1', 'x-oss-expires=2&x-oss-signature=2'],
		['OSSAccessKeyId=a&Expires=1&Signature=1', 'OSSAccessKeyId=b&Expires=2&Signature=2'],
		['q-sign-algorithm=sha1&q-ak=1&q-signature=1', 'q-sign-algorithm=sha1&q-signature=2'],
		['X-Obs-Date=1&X-Obs-Signature=1', 'X-Obs-Date=2&X-Obs-Signature=2'],
		['AccessKeyId=a&Expires=1&Signature=1', 'AccessKeyId=a&Expires=2&Signature=2'],
		['X-Tos-Date=1&X-Tos-Signature=1', 'X-Tos-Date=2&X-Tos-Signature=2'],
	];
	const OTHER_FILES: typeof SIGNED_AGAIN = [
		['a.png?x-amz-signature=1', 'b.png?x-amz-signature=1'],
		['a.png?signature=1', 'a.png?signature=2'],
		['a.png?ex=1&is=1&hm=1', 'a.png?ex=2&is=2&hm=2'],
		['film.jpg#t=10', 'film.jpg#t=20'],
		['uc?export=download&id=AAA', 'uc?export=download&id=BBB'],
		['image?url=a.png&token=1', 'image?url=b.png&token=2'],
		['picture?sku=7&expires=1', 'picture?sku=8&expires=2'],
		['a.png?x-oss-process=image/crop,w_1', 'a.png?x-oss-process=image/crop,w_2'],
	];

	test('that was signed again is the same value, that of another file another one', async () => {
		const [item] = ofKey(1, 'A wedding');
		const run = async (url: string) =>
			await createIn([item!], KEYED, withUrl(`${FILES}${url}`));
		await run(`a.png?${SIGNED_AGAIN[0]![0]}`);
		const { outputs } = await run(`a.png?${SIGNED_AGAIN[0]![1]}`);
		expect(shownOf(outputs[0])).toStrictEqual(['task-A wedding, reused']);
		const { error } = await run(`b.png?${SIGNED_AGAIN[0]![1]}`);
		expect(error!.message).toMatch(/^Idempotency Key 1 was used with /);
	});

	test.each(SIGNED_AGAIN)('is the same where the signature is another one: %s', (...both) => {
		const hashes = both.map((query) => hashOf({ references: [[`${FILES}a.png?${query}`]] }));
		expect(hashes[0]).toBe(hashes[1]);
	});

	test.each(OTHER_FILES)('is another one: %s', (...both) => {
		const hashes = both.map((url) => hashOf({ references: [[`${FILES}${url}`]] }));
		expect(hashes[0]).not.toBe(hashes[1]);
	});
});

test('a reused video has the fields of a new one', async () => {
	const url = 'https://files.example/a.png';
	const parameters = {
		model: byId('video-m7'),
		duration: 7,
		aspectRatio: '9:16',
		references: { file: [{ kind: 'image', source: 'url', url }] },
	};
	const options = { ...KEYED, pricePerSecond: 0.1 };
	const night = async () => {
		const { outputs } = await createIn(ofKey(1, 'A wedding'), options, { parameters });
		return outputs[0]![0]!.json;
	};
	const first = await night();
	expect(first).toMatchObject({
		created_at: 1,
		adjustments: [{ field: 'duration', from: 7, to: 8 }],
		request: { aspect_ratio: '9:16', images: [url] },
	});
	expect(await night()).toStrictEqual({ ...first, reused: true });

	service.tables.edit(() => true, { finished_at: new Date().toISOString() });
	const now = { status: 'completed', output: 'The video is completed: task task-A wedding' };
	expect(await night()).toStrictEqual({ ...first, ...now, reused: true });
});

describe('a service that answers two requests with one task', () => {
	const ONE = 'task of all';
	beforeEach(() => {
		service.taskIdOf = () => ONE;
	});

	test('has not made the second video, as far as anybody knows', async () => {
		const prompts = ['A wedding', 'A sofa'];
		const { outputs } = await create(prompts, SERIAL, CONTINUE);
		expect(shownOf(outputs[0])).toStrictEqual([ONE]);
		expect(outputs[1]![0]!.json).toMatchObject({
			error: `The service answered with the task ${ONE} to two creations`,
			message: expect.stringContaining(
				': the prompt "A sofa" (video-m1, 5 s, 720P), and the prompt "A wedding" (video-m1, 5 s, 720P). ',
			) as string,
			details: { outcome_unknown: true },
		});
		expect(service.tables.rows).toMatchObject([
			{ prompt: 'A wedding', task_id: ONE, status: 'open' },
			{ prompt: 'A sofa', task_id: null, status: 'sent' },
		]);
	});

	test('has made one for five equal requests, as a cache between them would say', async () => {
		const { outputs } = await create(Array<string>(5).fill('A sofa'), {}, CONTINUE);
		expect(shownOf(outputs[0])).toStrictEqual([ONE]);
		expect(outputs[1]).toHaveLength(4);
		const tasks = service.tables.rows.map(({ task_id }) => task_id ?? '').sort();
		expect(tasks).toStrictEqual([...Array<string>(4).fill(''), ONE]);
	});

	test.each(['stopWorkflow', 'continueErrorOutput'] as const)(
		'has not made that of a later execution, which names both rows: %s',
		async (onError) => {
			await createIn([{ prompt: 'A wedding' }]);
			const { outputs, error } = await createIn([{ prompt: 'A sofa' }], {}, { onError });
			const advice = error?.description ?? String(outputs[1]![0]!.json['message']);
			// A retry sends nothing for the second one.
			expect(advice).toMatch(
				/^Look at the rows of both .*: the prompt "A sofa" .* in row \d+, and the prompt "A wedding" .* in row \d+\. .*not sent again without/s,
			);
			expect(advice).not.toContain('Retry;');
			expect(outputs[0] ?? []).toStrictEqual([]);
			expect(service.tables.rows).toMatchObject([
				{ prompt: 'A wedding', task_id: ONE, status: 'open' },
				{ prompt: 'A sofa', task_id: '', status: 'sent' },
			]);
		},
	);

	test('has not made that of further items with the key, either', async () => {
		await createIn([{ prompt: 'A wedding' }]);
		const { outputs } = await createIn(ofKey(1, 'A sofa', 'A sofa'), KEYED, CONTINUE);
		expect(outputs[0] ?? []).toStrictEqual([]);
		const not = expect.stringMatching(/to two creations/) as string;
		expect(shownOf(outputs[1])).toStrictEqual([not, not]);
	});

	test('may have one that another account has, too', async () => {
		await createIn([{ prompt: 'A wedding' }]);
		const credential = { baseUrl: service.server.url, apiKey: 'k2' };
		const { outputs } = await createIn([{ prompt: 'A sofa' }], {}, { credential });
		expect(shownOf(outputs[0])).toStrictEqual([ONE]);
	});
});

test.each(['claimed', 'sent'])(
	'a task that the service calls %s, as the ledger calls something else, keeps its key',
	async (status) => {
		service.answers = { 'A wedding': reply({ task_id: 'task-1', status, model: 'video-m1' }) };
		await createIn(ofKey(1, 'A wedding'), KEYED);
		const sent_at = new Date(Date.now() - 3_600_000).toISOString();
		service.tables.edit(() => true, { sent_at });
		const { outputs } = await createIn(ofKey(1, 'A wedding'), KEYED);
		expect(shownOf(outputs[0])).toStrictEqual(['task-1, reused']);
		expect(sent()).toHaveLength(1);
	},
);

describe('the key of a video that failed', () => {
	const ITEM = ofKey(1, 'A wedding');
	beforeEach(() => {
		service.ending = FAILED;
		service.taskIdOf = (_prompt, _nth, ofAll) => `task-${ofAll}`;
	});

	/** Creates a video and waits for it, as a schedule does every night. */
	async function night() {
		const { outputs } = await createIn(ITEM, KEYED);
		const items = outputs[0]!.map(({ json: fields }) => fields);
		await service.wait(items, { download: false, options: { onFailed: 'output' } });
		return shownOf(outputs[0])[0];
	}

	test('makes a new one each night, counts them, and keeps the one that is completed', async () => {
		const nights = [await night(), await night()];
		service.ending = { status: 'completed' };
		nights.push(await night(), await night());
		expect(nights).toStrictEqual([
			'task-1',
			'task-2, attempt 2',
			'task-3, attempt 3',
			'task-3, reused, attempt 3',
		]);
	});

	test('makes a new one with Use Existing Video and other values, too', async () => {
		await night();
		const { outputs } = await createIn(ofKey(1, 'A sofa'), EXISTING);
		expect(shownOf(outputs[0])).toStrictEqual(['task-2, attempt 2']);
	});

	test('of two executions at the same moment one makes it', async () => {
		await night();
		const both = await Promise.all([createIn(ITEM, KEYED), createIn(ITEM, KEYED)]);
		const shown = both.flatMap(({ outputs }) => shownOf(outputs[0])).sort();
		expect(shown).toStrictEqual(['task-2, attempt 2', 'task-2, reused, attempt 2']);
	});
});

describe('a retry of an execution', () => {
	test.each(['stopWorkflow', 'continueErrorOutput'] as const)(
		'does not give the videos of other items by their position: %s',
		async (onError) => {
			await create(['Storm', 'Election']);
			const items = ['Football', 'Election', 'Music'];
			const { outputs, error } = await create(items, {}, { ...RETRY, onError });
			const text = error?.message ?? shownOf(outputs[1])[0];
			expect(text).toMatch(
				/Prompt is the prompt "Football" .* and was the prompt "Storm" .* in the earlier try/,
			);
			const more = onError === 'stopWorkflow' ? [] : ['Music'];
			expect(sent()).toStrictEqual(['Storm', 'Election', ...more]);
			if (error) {
				expect(error.description).toMatch(/^Nothing was sent.* execute the workflow again/);
				return;
			}
			expect(shownOf(outputs[0])).toStrictEqual(['task-Election, reused', 'task-Music']);
		},
	);

	const NEW_EACH_TIME = { idempotencyKey: '={{ $execution.id }} {{ Math.random() }}' };
	const CORRECTED = { idempotencyKey: '=order {{ $json.prompt }}' };
	const ofDay = (day: number) => ({ idempotencyKey: `=${day} {{ $json.prompt }}` });
	test.each<[string, IDataObject, IDataObject]>([
		['is another one in every try', NEW_EACH_TIME, NEW_EACH_TIME],
		['was added since', {}, CORRECTED],
		['has the day, and is paid for on the next', ofDay(29), ofDay(30)],
	])('knows an equal item whose key %s', async (_what, before, now) => {
		await create(['Storm', 'Election'], before);
		const { outputs } = await create(['Storm', 'Election', 'Music'], now, RETRY);
		const ids = ['task-Storm, reused', 'task-Election, reused', 'task-Music'];
		expect(shownOf(outputs[0])).toStrictEqual(ids);
		if (now === NEW_EACH_TIME) return;
		const next = await createIn([{ prompt: 'Election' }, { prompt: 'Storm' }], now);
		const again = now === CORRECTED ? ', reused' : ' 2';
		const expected = ['task-Election', 'task-Storm'].map((id) => id + again);
		expect(shownOf(next.outputs[0])).toStrictEqual(expected);
	});

	test('leaves a key to the video that has it meanwhile', async () => {
		await create(['Storm']);
		service.taskIdOf = () => 'newer';
		await createIn([{ prompt: 'Storm' }], CORRECTED);
		await create(['Storm'], CORRECTED, RETRY);
		expect(service.tables.rows).toMatchObject([
			{ task_id: 'task-Storm', idempotency_key: '' },
			{ task_id: 'newer', idempotency_key: 'order Storm' },
		]);
	});

	test('on another day knows the videos of a night that was killed, one for each format, as the example has its keys', async () => {
		const { nodes } = await readExample('batch');
		const created = nodes.find(({ name }) => name === 'Create Video')!;
		const night = async (timestamp: string, execution: object, now: string) => {
			jest.spyOn(Date, 'now').mockReturnValue(Date.parse(now));
			const json = { topic: 'A tram', model: 'video-m7', aspect_ratio: '16:9' };
			const schedule = stubNode('Every Night at 2', () => [{ json: { timestamp } }]);
			const formats = [json, { ...json, aspect_ratio: '9:16' }, { ...json, duration: 12 }];
			const topics = stubNode('Topics', () => formats.map((each) => ({ json: each })));
			const write = stubNode('Write', (items) =>
				items.map((_, item) => ({ json: { output: `${item} ${now}` }, pairedItem: item })),
			);
			const video = packageNode('Create Video', 'createVideo', created);
			const wires = {
				[schedule.name]: [['Topics']],
				Topics: [['Write']],
				Write: [[video.name]],
			};
			await service.flow([schedule, topics, write, video], wires, [{}], execution);
		};
		const [first, second] = ['2026-06-15T02:00:00.000+02:00', '2026-06-16T02:00:00.000+02:00'];
		await night(first, {}, '2026-06-15T00:00:01Z');
		await night(first, RETRY, '2026-06-16T09:00:00Z');
		expect(sent()).toHaveLength(3);
		await night(second, another('13'), '2026-06-16T09:00:00Z');
		expect(sent()).toHaveLength(6);
	});

	test('knows a binary file by its content', async () => {
		const files = Container.get(BinaryDataService);
		jest.spyOn(files, 'createSignedToken').mockReturnValue('token');
		jest.spyOn(files, 'getAsStream').mockImplementation(async (id) =>
			Promise.resolve(Readable.from([id.split(' ').at(-1)!])),
		);
		const withFile = (id: string) => ({
			parameters: {
				references: { file: [{ kind: 'image', source: 'binary', binaryProperty: 'data' }] },
			},
			binaries: [{ data: { data: '', id: `filesystem-v2:${id}`, mimeType: 'image/png' } }],
		});
		await create(['Storm'], {}, withFile('1 cat'));
		const again = await create(['Storm'], {}, { ...RETRY, ...withFile('2 cat') });
		expect(shownOf(again.outputs[0])).toStrictEqual(['task-Storm, reused']);
		const other = await create(['Storm'], {}, { ...retryAs('13'), ...withFile('3 dog') });
		expect(other.error!.message).toMatch(/^Prompt is /);
	});
});
