import type { INode } from 'n8n-workflow';

import { APPS } from '../../emulator/chat/apps';
import { EMULATED_CHAT_MODELS } from '../../emulator/chat/models';
import { EMULATED_MODELS } from '../../emulator/video/models';
import { entriesOf } from '../n8n/formData';
import { callsItself } from './drawing';
import { NODES, type Version } from './tables';

export const OWN = 'n8n-nodes-agent-video.';
export const BASE = 'n8n-nodes-base.';
export const LANGCHAIN = '@n8n/n8n-nodes-langchain.';

/** Beginning of what is said of a node that has a stub in its place. */
export const STUB = 'a stub that';

/** Nodes of n8n that work without a credential and stay on the machine. Every other node is replaced. */
const LOCAL = Object.entries(NODES.local).flatMap(([prefix, names]) =>
	names.split(' ').map((name) => `${prefix}.${name}`),
);
/** What is in the place of a node in the copy. */
export interface Replacement {
	readonly node: string;
	readonly type: string;
	readonly by: string;
}

/** Output items that a person has pinned to a node. */
export type Pinned = readonly object[] | undefined;

/** The node of the copy, and what it is if it is another one. */
type Replaced = readonly [node: INode, by?: string];

/** A node that n8n waits for, whatever is pinned to it. */
const ANSWER = `${BASE}respondToWebhook`;
/** A further page of a form, or its last one. */
const FORM = `${BASE}form`;
/** Type and version of a node. */
const CODE: Version = [`${BASE}code`, 2];

/** What a stub returns, if no data are pinned to its node. */
const NOTHING = `${STUB} returns {}`;

/** Whether a node is one of this package, also as a tool. */
export const isOwn = ({ type }: Pick<INode, 'type'>) => type.startsWith(OWN);

/** What the emulator has in the place of the codes of a person's account, by type of node. */
export const codesFor = (type: string) => ({
	...(/(?:create|waitFor)Video/.test(type)
		? { models: EMULATED_MODELS, model: 'video-m1' }
		: { models: EMULATED_CHAT_MODELS, model: 'chat-m2' }),
	app: type.includes('superAssistant') ? 'demo-assistant' : 'demo-app',
});

/** Whether what a node returns in the copy says nothing of what it returns in the workflow. */
export const isMadeUp = (by: string | undefined) => by === NOTHING;

/**
 * Replaces a node that would need a credential or leave the machine, or has pinned data.
 *
 * @param connection Type of its connections: `main`, or for a sub-node such as `ai_tool`.
 */
export function replaceNode(node: INode, connection: string, pinned: Pinned): Replaced {
	const { credentials, ...rest } = node;
	const { operation } = node.parameters;
	const as = (by: string, [type, typeVersion]: Version, parameters: INode['parameters'] = {}) =>
		[{ ...rest, type, typeVersion, parameters }, by] as const;
	const stubbed = pinned ? `${STUB} returns its pinned data` : NOTHING;
	if (isOwn(node)) return withKnownCodes(node);
	if (isLocal(node) && (pinned === undefined || node.type === ANSWER)) return [node];
	if (node.type === FORM && operation !== 'completion' && pinned === undefined)
		return as(`${STUB} fills it in`, CODE, stub([entriesOf(node)]));
	const other = NODES.others[node.type] ?? NODES.others[connection];
	if (other) return as(other.by, other.as);
	if (connection === 'ai_tool')
		return as(stubbed, [`${LANGCHAIN}toolCode`, 1.3], {
			description: node.parameters['toolDescription'] ?? node.name,
			jsCode: `return ${JSON.stringify(JSON.stringify(pinned ?? {}))};`,
		});
	if (operation === 'sendAndWait' && pinned === undefined)
		return as(`${STUB} approves`, CODE, stub([{ data: { approved: true } }]));
	return as(stubbed, CODE, stub(pinned));
}

/** Parameters of a Code node that returns pinned items, or `{}` for each item that it gets. */
export function stub(pinned: Pinned): INode['parameters'] {
	const items = pinned?.map((item) => ('json' in item ? item : { json: item }));
	return {
		jsCode: `const { length } = $input.all();
return (${items ? JSON.stringify(items) : 'Array(length).fill({ json: {} })'})
  .map((item, index) => ({ ...item, pairedItem: { item: Math.min(index, length - 1) } }));`,
	};
}

/** Whether a node stays. A workflow is called only if it is this one, and a table used only by name. No Python runs. */
function isLocal({ type, credentials, parameters }: INode): boolean {
	const table = JSON.stringify(parameters['dataTableId'] ?? '');
	if (credentials !== undefined || /"mode":"(?:list|id)"/.test(table)) return false;
	const isPython = String(parameters['language']).startsWith('python');
	return (LOCAL.includes(type) && !isPython) || callsItself({ type, parameters });
}

/** Replaces codes of a person's account by codes that the emulator knows. Expressions stay as they are. */
function withKnownCodes(node: INode): Replaced {
	const changes: string[] = [];
	const known = (code: unknown, rows: readonly { readonly code: string }[], fallback: string) => {
		const parts = String(code).split('=');
		const isKnown = (part: string) => rows.some((row) => row.code === part);
		if (typeof code !== 'string' || parts[0] === '' || isKnown(code)) return code;
		const other = parts.find(isKnown) ?? fallback;
		changes.push(`${code} → ${other}`);
		return other;
	};
	const { model, appCode } = node.parameters;
	const entered = typeof model === 'object' ? model : { mode: 'id', value: model };
	const locator = entered as { value: unknown };
	const codes = codesFor(node.type);
	const value = known(locator.value, codes.models, codes.model);
	const parameters = {
		...node.parameters,
		...(model !== undefined && { model: { __rl: true, ...locator, value } }),
		...(appCode !== undefined && { appCode: known(appCode, APPS, codes.app) }),
	} as INode['parameters'];
	const copy = { ...node, parameters };
	return changes.length > 0 ? [copy, `other codes: ${changes.join(', ')}`] : [copy];
}
