import { isMade, mainRowOf } from '../../nodes/shared/durable/call';
import { stateOf, type State } from '../../nodes/shared/durable/states';
import type { Row } from '../../nodes/shared/engine/dataTable';
import { STATES } from '../../scripts/stateTable';

const finished_at = '2026-01-01T00:00:00.000Z';

test.each<[Row, State]>([
	[{ status: 'claimed' }, 'claimed'],
	[{ status: 'sent' }, 'sent'],
	[{ status: 'open', task_id: 't' }, 'open'],
	[{ status: 'completed', task_id: 't', finished_at }, 'done'],
	[{ status: 'failed', task_id: 't', finished_at }, 'failed'],
	// What a person may have made of a row frees nothing.
	[{ status: 'Claimed' }, 'sent'],
	[{ status: 'claimed ' }, 'sent'],
	[{ status: '' }, 'sent'],
	[{ status: null }, 'sent'],
	[{}, 'sent'],
	[{ status: 'done' }, 'sent'],
	[{ status: 'sent', task_id: ' t ' }, 'open'],
	[{ status: 'claimed', task_id: 't' }, 'open'],
	[{ status: 'sent', task_id: '  ' }, 'sent'],
	[{ status: 'any word', task_id: 't' }, 'open'],
	// Only this word does, which is that of the service.
	[{ status: 'failed' }, 'failed'],
])('%j is %s', (row, state) => {
	expect(stateOf(row)).toBe(state);
});

test('each event leads to a state, and every state can be reached', () => {
	const reached = new Set<State>(['none']);
	for (let count = 0; count < reached.size;) {
		count = reached.size;
		for (const state of [...reached])
			for (const next of Object.values(STATES[state].events)) reached.add(next);
	}
	expect([...reached].toSorted()).toStrictEqual(Object.keys(STATES).toSorted());
});

test('no event takes back that a call was sent, but that it has certainly failed', () => {
	const back = Object.entries(STATES).flatMap(([state, { events }]) =>
		Object.entries(events).flatMap(([event, next]) =>
			['none', 'claimed'].includes(next) ? [`${state} ${event}`] : [],
		),
	);
	expect(back).toStrictEqual([
		'none has a key, or is of a retry',
		'claimed yields, or stands for a minute',
		'sent certainly fails, or is deleted',
	]);
});

describe('the rows of a call', () => {
	const [claimed, sent, open] = [
		{ id: 1, status: 'claimed' },
		{ id: 2, status: 'sent' },
		{ id: 3, status: 'open', task_id: 't' },
	];
	test.each<[string, Row[], Row, boolean]>([
		['a claim', [claimed], claimed, false],
		['a claim twice', [claimed, { ...claimed, id: 4 }], { ...claimed, id: 4 }, false],
		['sent, and its claim a second time', [sent, { ...claimed, id: 4 }], sent, true],
		['its answer beside the row that announced it', [sent, open], open, true],
		['its answer before that', [open, { ...sent, id: 4 }], open, true],
		[
			'a row that a person has set to failed',
			[{ ...sent, status: 'failed' }],
			{ ...sent, status: 'failed' },
			false,
		],
		[
			'a video that has failed',
			[{ ...open, status: 'failed' }],
			{ ...open, status: 'failed' },
			true,
		],
	])('%s', (_name, rows, last, made) => {
		expect(mainRowOf(rows)).toStrictEqual(last);
		expect(isMade(rows)).toBe(made);
	});
});
