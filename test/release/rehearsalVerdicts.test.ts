// @seconds 28
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { rehearse, type Rehearsal } from '../../lab/rehearsal/rehearse';
import { markOf } from '../../lab/rehearsal/report';
import { startFencedN8n } from '../../lab/rehearsal/startFencedN8n';
import { Running } from '../../lab/services/Running';
import { hostileWorkflows, SHAPES } from '../fixtures/rehearsal/shapes';
import { RUN_LIMIT_MS, SET_UP_LIMIT_MS } from '../e2e/support/session';

/** What a person reads of a workflow in the first line, and in that of a kill if it is told apart. */
const VERDICTS = {
	Schedule: ['✓ Nothing is lost.', '✓ Nothing is lost.'],
	'Hostile: a spelled name': ['✓ Nothing is lost.', '✓ Nothing is lost.'],
	'Hostile: a workflow in a node': ['✓ Nothing is lost.', '✓ Nothing is lost.'],
} as const;

const running = new Running();
let rehearsals: readonly Rehearsal[];
let refused: readonly string[];

/** A server of somebody else on this machine, with the paths that it was asked for. */
const asked: string[] = [];
const other = createServer(({ url }, answer) => {
	asked.push(url!);
	answer.end('{}');
});
let host: string;

beforeAll(async () => {
	await once(other.listen(0, '127.0.0.1'), 'listening');
	host = `127.0.0.1:${(other.address() as AddressInfo).port}`;
	const all = [...SHAPES.map((each) => each.workflow), ...hostileWorkflows(`http://${host}`)];
	const workflows = all.filter(({ name }) => name in VERDICTS);
	const n8n = running.keep(await startFencedN8n());
	rehearsals = await rehearse(workflows, { n8n, only: ['kill-wait'] });
	refused = await n8n.refused();
}, SET_UP_LIMIT_MS);

afterAll(async () => {
	await running.stop();
	other.close();
}, RUN_LIMIT_MS);

it.each(Object.entries(VERDICTS))('the verdict on: %s', (name, verdicts) => {
	const { results } = rehearsals.find(({ workflow }) => workflow === name)!;
	expect(results.map((each) => `${markOf(each)} ${each.verdict}`)).toStrictEqual(verdicts);
});

it('a workflow of a stranger reaches nothing but the emulator, and what it tried is listed', () => {
	expect([asked, refused]).toStrictEqual([[], [`a connection to ${host}`]]);
});
