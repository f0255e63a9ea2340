import type { INode } from 'n8n-workflow';

import { isJsonObject, objectOf } from '../../client/json';

/** Loop Over Items, which keeps the items of its earlier runs, as another node of the same type does. */
export const LOOP = 'n8n-nodes-base.splitInBatches';

/** The output of Loop Over Items for the items of a batch. */
export function batchOutput(typeVersion: number): number {
	return typeVersion < 3 ? 0 : 1;
}

/** The type and mode of nodes that pass on whatever they get. */
export const PASSING =
	/^n8n-nodes-base\.((noOp|set|renameKeys|dateTime|wait|aggregate|sort) |merge append$)/;

/** The type and modes of nodes that output nothing without items at each of their inputs. */
export const JOINING =
	/^n8n-nodes-base\.merge (chooseBranch|combine (combineAll|combineByPosition (?!.*true)|combineByFields (keepMatches|enrich)))/;

/**
 * The type and mode of nodes that run foreign code once for all items. Where the code makes no links, n8n links what comes out
 * by position.
 */
export const FOREIGN =
	/^n8n-nodes-base\.(code (?!runOnceForEachItem)|executeWorkflow (?!each)|function )/;

/** Whether a node passes its items on when a person, or another system, has answered. */
export function asksPerson({ type, disabled, parameters }: INode): boolean {
	const { operation, resume } = parameters;
	const text = `${String(operation)} ${String(resume)} ${type}`;
	const answered = /^(sendAndWait|dispatchAndWait) | (webhook|form) |\.(form|respondToWebhook)$/;
	return disabled !== true && answered.test(text);
}

/** Whether such a node goes on by itself after a time. */
export function hasTimeLimit({ parameters }: INode): boolean {
	const { limitWaitTime = objectOf(parameters['options'])['limitWaitTime'] } = parameters;
	return limitWaitTime === true || isJsonObject(limitWaitTime);
}
