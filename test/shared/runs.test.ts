import type { IExecuteData, IExecuteFunctions, INode } from 'n8n-workflow';

import { executionOf } from '../../nodes/shared/engine/context';
import { isTriedAgain } from '../../nodes/shared/engine/runs';
import { nodeState } from '../../nodes/shared/run/nodeContext';
import { strictContext } from '../support/strictContext';

test('whether a run is tried again does not depend on how often that is asked', () => {
	const data = {} as IExecuteData;
	// n8n makes a context for each try, and for all of them one entry.
	const beginTry = () =>
		strictContext({
			getExecuteData: () => data,
			getNode: () => ({ retryOnFail: true, maxTries: 3 }) as INode,
			helpers: {} as IExecuteFunctions['helpers'],
		});
	const asked = [1, 2, 3].map(() => {
		const context = beginTry();
		return [isTriedAgain(context), isTriedAgain(Object.create(context) as typeof context)];
	});
	expect(asked).toStrictEqual([
		[true, true],
		[true, true],
		[false, false],
	]);
});

test('in an execution whose node state n8n keeps elsewhere, an error says so', () => {
	const execution = { runExecutionData: { executionData: {} } };
	expect(() => nodeState(strictContext(execution as never), 'tasks')).toThrow(
		'This version of n8n does not tell what a node has done before',
	);
});

const executionIn = (mode: string, id: string, runExecutionData: object, additionalData: object) =>
	executionOf(
		strictContext({
			getMode: () => mode,
			getExecutionId: () => id,
			...{ runExecutionData, additionalData },
		} as never),
	);

describe('a retry of which n8n does not tell the origin is an error', () => {
	const calledBy = (source: string) => ({
		resumeToken: 'b',
		parentExecution: {
			...{ executionId: '1', workflowId: 'w' },
			executionContext: { source, establishedAt: 7 },
		},
	});
	const BARE = { resumeToken: 'b', parentExecution: { executionId: '1', workflowId: 'w' } };
	const TOLD = { getRunExecutionData: async () => Promise.resolve({ resumeToken: 'a' }) };
	const untold = new Error('This version of n8n does not tell which execution this one retries');
	type Row = [string, string, data: object, additional: object, Error | string | undefined];
	test.each<Row>([
		['no token', 'retry', {}, {}, untold],
		['in a sub-workflow, no caller', 'integrated', { resumeToken: 'b' }, {}, untold],
		['no data of the caller', 'integrated', calledBy('webhook'), {}, untold],
		['not how the caller was started', 'integrated', BARE, TOLD, untold],
		['an evaluation', 'integrated', calledBy('evaluation'), TOLD, untold],
		...['retry', 'integrated'].map((mode): Row => [
			`a caller that is not saved any more, ${mode}`,
			mode,
			calledBy('webhook'),
			{ getRunExecutionData: async () => Promise.resolve(undefined) },
			new Error('Execution 1, which called this one, is no longer saved'),
		]),
		['all there', 'retry', { resumeToken: 'a' }, {}, 'a'],
		['all of the caller', 'integrated', calledBy('webhook'), TOLD, 'a'],
		['a caller by hand', 'integrated', calledBy('manual'), TOLD, 'w 7'],
		['a caller on the command line', 'integrated', calledBy('cli'), TOLD, 'w 7'],
		['no retry', 'trigger', {}, { rootExecutionMode: 'trigger' }, undefined],
		[
			'no retry, a caller by hand that is not saved yet',
			'integrated',
			calledBy('manual'),
			{ rootExecutionMode: 'manual', getRunExecutionData: async () => Promise.resolve([]) },
			'w 7',
		],
	])('%s', async (_what, mode, runExecutionData, additional, expected) => {
		const more = { rootExecutionMode: 'retry', ...additional };
		const asked = executionIn(mode, '2', runExecutionData, more).chain();
		if (expected instanceof Error) await expect(asked).rejects.toThrow(expected.message);
		else expect((await asked).at(-1)!.token).toBe(expected);
	});
});

test.each<[string, object, kept: string[], hasUnclearCalls: boolean]>([
	['once for all items', { metadata: calling('5', 1), data: { main: [[{}]] } }, ['5'], false],
	[
		'for each item',
		{
			metadata: { subExecutionsCount: 2 },
			data: { main: [[{ metadata: calling('5') }, { metadata: calling('6') }]] },
		},
		['5', '6'],
		false,
	],
	[
		'for each item, one of which came back with nothing',
		{ metadata: { subExecutionsCount: 2 }, data: { main: [[{ metadata: calling('5') }]] } },
		['5'],
		true,
	],
	['by a tool before', { metadata: calling('5'), data: { ai_tool: [[{}]] } }, [], true],
	['by a tool now', { metadata: calling('50'), data: { ai_tool: [[{}]] } }, [], false],
])('calls of sub-workflows that a retry has kept: %s', (_what, run, kept, hasUnclearCalls) => {
	const runExecutionData = { resultData: { runData: { Call: [run] } } };
	const { current } = executionIn('retry', '12', runExecutionData, {});
	expect(current).toMatchObject({ kept: new Set(kept), hasUnclearCalls });
});

function calling(executionId: string, subExecutionsCount?: number) {
	return { subExecution: { executionId, workflowId: 'w' }, subExecutionsCount };
}
