import { STATUSES, unlistedStatus, type Endpoint } from '../../nodes/client/http/statuses';

/** Spec 7.1 and 7.2: what may pass by itself, and what the service may have carried out all the same. */
const ROWS: readonly [Endpoint, number, boolean, boolean][] = [
	['chat', 400, false, false],
	['chat', 401, false, false],
	['chat', 402, false, false],
	['chat', 403, false, false],
	['chat', 406, false, false],
	['chat', 409, false, false],
	['chat', 429, true, false],
	['chat', 503, true, true],
	['video', 400, false, false],
	['video', 401, false, false],
	['video', 402, false, false],
	['video', 406, false, false],
	['video', 409, false, false],
	['video', 429, true, false],
	['video', 503, true, true],
];

test.each(ROWS)(
	'%s %i: passes %s, outcomeUnknown %s',
	(endpoint, status, retryable, outcomeUnknown) => {
		expect(STATUSES[endpoint][status]).toMatchObject({ retryable, outcomeUnknown });
	},
);

test('there are no other rows, and each says what happened and what to do', () => {
	const rows = Object.entries(STATUSES).flatMap(([endpoint, statuses]) =>
		Object.entries(statuses).map(([status, { message, hint }]) => {
			expect(message).toMatch(/^[A-Z].{15,}[^.]$/);
			expect(hint).toMatch(/^[A-Z].{10,}[^.]$/);
			return `${endpoint} ${status}`;
		}),
	);
	expect(rows).toStrictEqual(ROWS.map(([endpoint, status]) => `${endpoint} ${status}`));
});

test('402 means another thing in each', () => {
	expect(STATUSES.chat[402]!.message).toMatch(/application/);
	expect(STATUSES.video[402]!.message).toMatch(/model/);
});

test.each([
	[404, false, false],
	[405, false, false],
	[408, true, true],
	[418, false, false],
	[500, true, true],
	[502, true, true],
	[504, true, true],
])(
	'%i, which the specification does not list: passes %s, outcomeUnknown %s',
	(status, ...facts) => {
		const { retryable, outcomeUnknown } = unlistedStatus(status);
		expect([retryable, outcomeUnknown]).toStrictEqual(facts);
	},
);
