import { hash, randomUUID } from 'node:crypto';

import type { IExecuteFunctions } from 'n8n-workflow';

import { grouped } from '../../client/concurrency';
import { executionOf } from '../engine/context';
import type { PaidCall } from './call';

/**
 * What identifies the execution of a node across n8n's *Retry*. n8n keeps one random token of an execution in all its retries; being a secret, it is
 * hashed. In an n8n without it a retry is recognized by the execution that it retries.
 */
export async function originOf(context: IExecuteFunctions) {
	const { current, isRetry, isRetried, chain: chainOf } = executionOf(context);
	const chain = await chainOf();
	const root = chain.at(-1)!;
	// Of the calls of n8n's MCP trigger and of its own Agents nothing is told: each is an execution of its own.
	const unknown = randomUUID();
	const secretOf = ({ token, retriedId, id }: typeof current) =>
		token ?? retriedId ?? (id || unknown);
	const isAlone = isRetried && root !== current;
	const { retriedId, id } = chain.at(-2) ?? {};
	return {
		/** The same for an execution and all its retries, also if it crashed and left no data; differs by workflow and node. */
		origin: hash(
			'sha256',
			[secretOf(root), context.getWorkflow().id, context.getNode().id].join(' '),
		),
		/** ID of the execution that a person sees: of a sub-workflow the execution that called it, unless it is retried itself. */
		root: isAlone ? current.id : root.id,
		/** Identifies this execution and its own retries: all calls of a sub-workflow by one execution have the same origin. */
		own: hash('sha256', secretOf(current)).slice(0, 16),
		/** In a sub-workflow its execution that the outermost one has called. */
		called: retriedId ?? id ?? '',
		/** Those that this retry does not call again. */
		kept: isAlone ? new Set<string>() : root.kept,
		/** Whether only the calls of this execution's own tries are repeated: a sub-workflow's execution is retried by itself. */
		isAlone,
		/** Whether the execution is a retry. */
		isRetry,
		/**
		 * Whether the position of a call tells which one it is. All calls of a sub-workflow have the same, and some of them are
		 * perhaps not repeated.
		 */
		hasPosition: root === current || isAlone || !root.hasUnclearCalls,
	};
}

/**
 * The parameters by which the big stores sign a URL, in lower case: a URL that has all of one row is a signed one. Amazon S3 and those
 * that speak its language, Google, CloudFront, Azure, Alibaba, Tencent, Huawei and Volcano.
 */
const SIGNATURES: readonly (readonly string[])[] = [
	['x-amz-signature'],
	['awsaccesskeyid', 'signature'],
	['x-goog-signature'],
	['googleaccessid', 'signature'],
	['key-pair-id', 'signature'],
	['sig', 'sv'],
	['x-oss-signature'],
	['ossaccesskeyid', 'signature'],
	['q-signature'],
	['x-obs-signature'],
	['accesskeyid', 'signature'],
	['x-tos-signature'],
];

/** A hash of what was entered. A signed URL counts by its path, as its signature differs each time; every other one as it is. */
export function hashOf(entered: unknown): string {
	return hash('sha256', JSON.stringify(entered, unsigned)).slice(0, 32);
}

function unsigned(_name: string, value: unknown): unknown {
	if (typeof value !== 'string' || !/^https?:/i.test(value) || !URL.canParse(value)) return value;
	const { origin, pathname, searchParams } = new URL(value);
	const names = new Set([...searchParams.keys()].map((name) => name.toLowerCase()));
	const isSigned = SIGNATURES.some((row) => row.every((name) => names.has(name)));
	return isSigned ? origin + pathname : value;
}

/** By what calls are recognized. */
export type Recognition = 'all' | 'place' | 'hash';

/** Gives a call a name: calls of the same name are the same one. Undefined for a call to which the rule does not apply. */
type Rule = (call: PaidCall) => unknown;

const BY_HASH: Rule = ({ hash }) => hash;
const BY_PLACE: Rule = ({ hash, run, item }) => [hash, run, item];

/** The rules in their order. */
const RULES: Readonly<Record<Recognition, readonly Rule[]>> = {
	/** Of calls with the same hash first that of the same key and place. */
	all: [
		({ hash, key, run, item }) => [hash, key, run, item],
		({ hash, key }) => (key === '' ? undefined : [hash, key]),
		BY_PLACE,
		BY_HASH,
	],
	/** An item of a rest is the one of its place. */
	place: [BY_PLACE],
	/** The calls of a tool have no place: an agent makes them in any order. */
	hash: [BY_HASH],
};

/**
 * Finds for each item the call that an earlier try of the same execution made for what it asks for. A call belongs to one
 * item only; of several that fit, the oldest.
 *
 * @returns `found`: the earlier call of each. `inPlace`: for one without, the call of its place that none has taken, which
 *   asked for something else.
 */
export function match<A extends PaidCall, C extends PaidCall>(
	asked: readonly A[],
	earlier: readonly C[],
	recognition: Recognition,
) {
	const found = new Map<A, C>();
	const taken = new Set<C>();
	for (const rule of RULES[recognition]) {
		const free = earlier.filter((call) => !taken.has(call) && rule(call) !== undefined);
		const named = grouped(free, (call) => JSON.stringify(rule(call)));
		for (const call of asked) {
			const first = found.has(call)
				? undefined
				: named.get(JSON.stringify(rule(call)))?.shift();
			if (first === undefined) continue;
			found.set(call, first);
			taken.add(first);
		}
	}
	const placeOf = ({ run, item }: PaidCall) => `${run} ${item}`;
	const left = earlier.filter((call) => !taken.has(call) && recognition !== 'hash');
	const byPlace = new Map(left.map((call) => [placeOf(call), call]));
	const inPlace = new Map<A, C>();
	for (const call of asked) {
		const other = byPlace.get(placeOf(call));
		if (other !== undefined && !found.has(call)) inPlace.set(call, other);
	}
	return { found, inPlace };
}
