/**
 * Only nodes/shared/engine touches what n8n does not promise: fields that the type of its context does not declare, casts that
 * reach them, and names of its classes. Each export there says where it was read, and what happens without it.
 */
import { join } from 'node:path';

import ts from 'typescript';

import { ROOT } from '../../lab/paths';
import { ENGINE, engineExports, NEEDS_NOTHING } from '../engine/engineExports';

/** Fields of n8n, as names of properties, variables and keys. */
const FIELDS = new Set([
	...['runExecutionData', 'nodeExecutionStack', 'waitingExecution', 'waitingExecutionSource'],
	...['runData', 'resultData', 'additionalData', 'resumeToken', 'parentExecution'],
	...['rootExecutionMode', 'retryOf', 'executionTimeoutTimestamp', 'getRunExecutionData'],
	...['contextData', 'connectionsBySourceNode', 'connectionsByDestinationNode'],
	...['credentialsDecrypted', 'subExecution', 'subExecutionsCount', '_streamResponseChunks'],
	...['getSecureEgressFilter', 'createSecureLookup', 'tokensUsageParser', 'getContext'],
]);

/** What n8n has as text. */
const TEXTS =
	/SsrfBlocked|isArtificialRecoveredEventItem|\$rawParameter|^@tool$|fromAI-override|binary-data\/signed/;

/** The properties of the helpers and of `Object` by which n8n is changed or bypassed. */
const CALLS = /(^|\.)helpers\.request$|^Object\.(create|setPrototypeOf)$|^Reflect\.(get|set)$/;

/** What a file touches of n8n that it must not, by the syntax tree. */
function touched(file: string, text: string): string[] {
	const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
	const found: string[] = [];
	const report = (node: ts.Node) => {
		const { line } = source.getLineAndCharacterOfPosition(node.getStart());
		found.push(`${file}:${line + 1} ${node.getText().split('\n')[0]!.slice(0, 60)}`);
	};
	const visit = (node: ts.Node): void => {
		if (ts.isIdentifier(node) && FIELDS.has(node.text) && !isOwn(node)) report(node);
		if (
			ts.isStringLiteralLike(node) ||
			ts.isTemplateHead(node) ||
			ts.isTemplateMiddleOrTemplateTail(node)
		) {
			if (FIELDS.has(node.text) || TEXTS.test(node.text)) report(node);
		}
		if (ts.isPropertyAccessExpression(node) && CALLS.test(node.getText())) report(node);
		if (isDoubleCast(node) && /context|this/i.test(node.expression.getText())) report(node);
		ts.forEachChild(node, visit);
	};
	visit(source);
	return found;
}

/** A variable or parameter of ours may have the name of a field where it holds what the folder gives: `runDataOf`. */
function isOwn(node: ts.Identifier): boolean {
	const { parent } = node;
	const isMember =
		(ts.isPropertyAccessExpression(parent) && parent.name === node) ||
		(ts.isBindingElement(parent) && (parent.propertyName ?? parent.name) === node) ||
		(ts.isPropertyAssignment(parent) && parent.name === node) ||
		ts.isPropertySignature(parent);
	return !isMember;
}

function isDoubleCast(node: ts.Node): node is ts.AsExpression {
	return (
		ts.isAsExpression(node) &&
		ts.isAsExpression(node.expression) &&
		node.expression.type.kind === ts.SyntaxKind.UnknownKeyword
	);
}

const files = (folder: string) =>
	ts.sys
		.readDirectory(join(ROOT, folder), ['.ts'])
		.map((file) => file.slice(ROOT.length).replace(/^\//, ''));

test('only the folder for n8n touches what n8n does not promise', () => {
	const others = files('nodes').filter((file) => !file.startsWith(ENGINE));
	expect(others.length).toBeGreaterThan(80);
	expect(
		others.flatMap((file) => touched(file, ts.sys.readFile(join(ROOT, file))!)),
	).toStrictEqual([]);
});

test.each([
	'(context as Internals).runExecutionData',
	'const { nodeExecutionStack } = given;',
	'const { resumeToken: token } = given;',
	"given['additionalData']",
	'interface Own { readonly executionTimeoutTimestamp?: number }',
	'context as unknown as Internals',
	'context.helpers.request(options)',
	'Object.create(context)',
	"name.startsWith('SsrfBlockedIp')",
	"({ show: { '@tool': [true] } })",
	'`={{ $rawParameter.${name} }}`',
])('%s is found in another folder', (text) => {
	expect(touched('other.ts', text)).toHaveLength(1);
});

test('each export says where in n8n it was read, and what happens without it', () => {
	const silent = engineExports().filter(
		({ name, doc, read }) =>
			!(name in NEEDS_NOTHING) && (read === undefined || !doc.includes('* Without it')),
	);
	expect(silent).toStrictEqual([]);
});
