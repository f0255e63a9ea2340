// @seconds 600
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { rehearse, type Rehearsal } from '../../lab/rehearsal/rehearse';
import { markOf } from '../../lab/rehearsal/report';
import { startFencedN8n } from '../../lab/rehearsal/startFencedN8n';
import { Running } from '../../lab/services/Running';
import { RUN_LIMIT_MS } from '../e2e/support/session';
import { hostileWorkflows, SHAPES } from '../fixtures/rehearsal/shapes';

/** Seventy workflows, of which three run in a loop until they are stopped. */
const ALL_LIMIT_MS = 40 * 60_000;

const running = new Running();
let shapes: readonly Rehearsal[];
/** Of some of them also what a kill comes to. */
let killed: readonly Rehearsal[];
const KILLED = ['Schedule', 'Hostile: a spelled name', 'Hostile: a workflow in a node'];
let refusals: readonly string[];

/** A server of somebody else on this machine, with the paths that it was asked for. */
const asked: string[] = [];
const other = createServer(({ url }, answer) => {
	asked.push(url!);
	answer.end('{}');
});
let otherUrl: string;

beforeAll(async () => {
	other.listen(0, '127.0.0.1');
	await once(other, 'listening');
	otherUrl = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
	const n8n = running.keep(await startFencedN8n());
	const strange = [...SHAPES.map(({ workflow }) => workflow), ...hostileWorkflows(otherUrl)];
	shapes = await rehearse(strange, { n8n, only: [] });
	killed = await rehearse(
		strange.filter(({ name }) => KILLED.includes(name)),
		{ n8n, only: ['kill-wait'] },
	);
	refusals = await n8n.refused();
}, ALL_LIMIT_MS);

afterAll(async () => {
	await running.stop();
	other.close();
}, RUN_LIMIT_MS);

/** The first line of each rehearsal of a workflow: the mark of the report, and what it says. */
const firstLines = (name: string) =>
	shapes
		.filter(({ workflow }) => workflow === name || workflow.startsWith(`${name}, started by`))
		.map(({ results: [first] }) => first!);

it.each(SHAPES.map((shape) => [shape.workflow.name, shape] as const))(
	'the verdict on %s is that of a careful person',
	(name, { verdicts, lists }) => {
		const lines = firstLines(name);
		expect(lines.map((each) => [markOf(each), each.verdict])).toStrictEqual(
			verdicts.map(([mark, says]) => [mark, expect.stringContaining(says) as string]),
		);
		for (const [index, [, , delivered]] of verdicts.entries())
			expect(lines[index]!.delivered).toBe(delivered ?? lines[index]!.delivered);
		const listed = shapes
			.filter(({ workflow }) => workflow.startsWith(name))
			.flatMap(({ replaced }) => replaced.map(({ node, by }) => `${node}: ${by}`));
		for (const each of lists) expect(listed.join('\n')).toContain(each);
	},
);

it.each(KILLED)('a kill changes nothing in the verdict on: %s', (name) => {
	const { results } = killed.find(({ workflow }) => workflow === name)!;
	const verdicts = results.map((each) => `${markOf(each)} ${each.verdict}`);
	expect(verdicts).toStrictEqual(['✓ Nothing is lost.', '✓ Nothing is lost.']);
});

it('a workflow of a stranger reaches nothing but the emulator, and what it tried is listed', () => {
	expect(asked).toStrictEqual([]);
	expect(refusals).toStrictEqual([`a connection to ${new URL(otherUrl).host}`]);
	const hostile = shapes.filter(({ workflow }) => workflow.startsWith('Hostile'));
	expect(hostile.length).toBeGreaterThan(9);
	// What it tried was not the end of it.
	const stopped = hostile.filter(({ results: [first] }) => first!.delivered !== 1);
	expect(stopped.map(({ workflow }) => workflow)).toStrictEqual(['Hostile: an expression']);
});
