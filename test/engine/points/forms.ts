import type { INode, INodeProperties, INodeTypeDescription } from 'n8n-workflow';
import type * as N8nWorkflow from 'n8n-workflow';

import { KEPT_UNSEEN } from '../../../nodes/shared/engine/workflow';
import { description, type InstalledN8n } from '../installedN8n';
import type { Point } from '../point';

const NODES = 'n8n-nodes-base/dist/nodes';
const LOOP = `${NODES}/SplitInBatches/SplitInBatches.node.js`;
/** The descriptions of n8n's nodes: some of their classes load modules that jest cannot load. */
const DESCRIPTIONS = 'n8n-nodes-base/dist/types/nodes.json';
const AI_DESCRIPTIONS = '@n8n/n8n-nodes-langchain/dist/types/nodes.json';
const AI_TOOLS = 'n8n/dist/tool-generation/ai-tools.js';

/** A node type of n8n by its class, for a version of it. */
function typeOf(n8n: InstalledN8n, path: string, version: number): INodeTypeDescription {
	const name = path.split('/').at(-1)!.split('.')[0]!;
	const classes =
		n8n.load<Record<string, new () => { getNodeType(of: number): N8nWorkflow.INodeType }>>(
			path,
		);
	return new classes[name]!().getNodeType(version).description;
}

/** Whether a field is shown that has this condition. */
function isShown(
	n8n: InstalledN8n,
	displayOptions: INodeProperties['displayOptions'],
	{ model = '', name = 'video' } = {},
): boolean {
	const { NodeHelpers } = n8n.load<typeof N8nWorkflow>('n8n-workflow');
	const field = { displayName: 'X', name: 'x', type: 'string', default: '', displayOptions };
	return NodeHelpers.displayParameter(
		{ model },
		field as INodeProperties,
		{ typeVersion: 1 },
		description({ name }),
	);
}

/** The values of an options property, also those of a collection of nodes' properties that have this name. */
const valuesOf = ({ properties }: INodeTypeDescription, name: string) =>
	properties
		.filter((each) => each.name === name)
		.flatMap(({ options = [] }) => options.map((each) => ('value' in each ? each.value : '')));

const between = { _cnd: { between: { from: 'm1', to: 'm3' } } } as never;

/** The points of n8n's forms and of its nodes that are drawn around ours. */
export const FORM_POINTS: readonly Point[] = [
	{
		n: 22,
		name: 'the type of a node as a tool ends in Tool, and has no main outputs',
		usedBy: ['isToolRun', 'isToolTooLate'],
		observe: (n8n) => {
			const { convertNodeToAiTool } = n8n.load<{
				readonly convertNodeToAiTool: (item: object) => {
					description: INodeTypeDescription;
				};
			}>(AI_TOOLS);
			const { name, outputs } = convertNodeToAiTool({
				description: description(),
			}).description;
			return [name, outputs];
		},
		expected: ['videoTool', ['ai_tool']],
		without: {
			modules: {
				[AI_TOOLS]: () => ({ convertNodeToAiTool: (item: object) => item }),
			},
		},
		lost: ['video', ['main']],
	},
	{
		n: 23,
		name: '`@tool` in displayOptions tells a tool from a node',
		usedBy: ['IS_TOOL'],
		observe: (n8n) =>
			['video', 'videoTool'].map((name) =>
				isShown(n8n, { show: { '@tool': [true] } }, { name }),
			),
		expected: [false, true],
		without: {
			modules: {
				'n8n-workflow': (workflow: typeof N8nWorkflow) => ({
					NodeHelpers: {
						displayParameter: (
							...[values, field, node]: Parameters<
								typeof workflow.NodeHelpers.displayParameter
							>
						) =>
							workflow.NodeHelpers.displayParameter(
								values,
								field,
								node,
								description({ name: 'video' }),
							),
					},
				}),
			},
		},
		lost: [false, false],
	},
	{
		n: 24,
		name: '$rawParameter is what is entered, _cnd compares, and the comment for $fromAI is the known one',
		usedBy: ['DEFINED_BY_MODEL', 'entered'],
		observe: (n8n) => {
			const { Workflow, FROM_AI_AUTO_GENERATED_MARKER: marker } =
				n8n.load<typeof N8nWorkflow>('n8n-workflow');
			const model = { displayName: 'Model', name: 'model', type: 'string', default: '' };
			const type = { description: description({ properties: [model] }) };
			const find = () => type as never;
			const nodeTypes = { getByName: find, getByNameAndVersion: find, getKnownTypes: find };
			const parameters = { model: '={{ 1 + 1 }}' };
			const node: INode = {
				...{ id: '1', name: 'Video', type: 'video', typeVersion: 1, position: [0, 0] },
				parameters,
			};
			const drawn = { nodes: [node], connections: {}, active: false, nodeTypes };
			const entered = new Workflow(drawn).expression.getSimpleParameterValue(
				node,
				'={{ [$rawParameter.model, $parameter.model] }}',
				'internal',
				{},
			);
			const shown = ['m0', 'm2', 'm4'].map((model) =>
				isShown(n8n, { hide: { model: [between] } }, { model }),
			);
			return [entered, shown, marker];
		},
		expected: [
			['={{ 1 + 1 }}', 2],
			[true, false, true],
			'/*n8n-auto-generated-fromAI-override*/',
		],
		without: {
			modules: {
				'n8n-workflow': ({ Workflow }: typeof N8nWorkflow) => ({
					...{ Workflow, FROM_AI_AUTO_GENERATED_MARKER: undefined },
					NodeHelpers: { displayParameter: () => true },
				}),
			},
		},
		lost: [['={{ 1 + 1 }}', 2], [true, true, true], undefined],
	},
	{
		n: 28,
		name: 'Loop Over Items gives a batch at output 0 up to version 2, then at output 1',
		usedBy: ['LOOP', 'batchOutput'],
		observe: (n8n) =>
			[1, 2, 3].map((version) => {
				const { outputs, outputNames = [] } = typeOf(n8n, LOOP, version);
				return [outputs.length, outputNames.indexOf('loop')];
			}),
		expected: [
			[1, -1],
			[2, 0],
			[2, 1],
		],
		without: {
			modules: {
				[LOOP]: () => ({
					SplitInBatches: class {
						readonly getNodeType = () => ({ description: description() });
					},
				}),
			},
		},
		lost: [
			[1, -1],
			[1, -1],
			[1, -1],
		],
	},
	{
		n: 32,
		name: 'Wait and Chat have the options by which the agent knows that somebody answers',
		usedBy: ['asksPerson'],
		observe: (n8n) => {
			const typesOf = (path: string) => n8n.load<readonly INodeTypeDescription[]>(path);
			const type = typesOf(DESCRIPTIONS).find(({ name }) => name === 'wait')!;
			const chat = typesOf(AI_DESCRIPTIONS).find(({ name }) => name === 'chat')!;
			return (
				['webhook', 'form'].every((each) => valuesOf(type, 'resume').includes(each)) &&
				chat.properties.some(({ name }) => name === 'waitUserReply')
			);
		},
		expected: true,
		without: {
			modules: { [DESCRIPTIONS]: () => [description({ name: 'wait' })] },
		},
		lost: false,
	},
	{
		n: 37,
		name: 'a hidden property of any name, also of a second one, keeps the value as it is entered',
		usedBy: ['KEPT_UNSEEN'],
		observe: (n8n) => {
			const { NodeHelpers } = n8n.load<typeof N8nWorkflow>('n8n-workflow');
			const of = (name: string, more: object) =>
				({ displayName: 'X', name, default: '', ...more }) as INodeProperties;
			const properties = [
				of('options', { type: 'collection', options: [], default: {} }),
				of('options', { ...KEPT_UNSEEN, default: {} }),
				of('key', KEPT_UNSEEN),
			];
			const values = { options: { typo: 1 }, key: 2, other: 3 };
			const node = { typeVersion: 1 };
			const type = description({ properties });
			return NodeHelpers.getNodeParameters(properties, values, true, false, node, type);
		},
		expected: { options: { typo: 1 }, key: 2 },
		without: {
			modules: {
				'n8n-workflow': (workflow: typeof N8nWorkflow) => ({
					NodeHelpers: {
						getNodeParameters: (
							...[properties, ...more]: Parameters<
								typeof workflow.NodeHelpers.getNodeParameters
							>
						) =>
							workflow.NodeHelpers.getNodeParameters(
								properties.filter(({ type }) => type !== 'hidden'),
								...more,
							),
					},
				}),
			},
		},
		lost: { options: {} },
	},
];
