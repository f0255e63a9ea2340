/**
 * How many functions of a node's run depend on n8n's context: the others take values, or the run that is made of it once.
 * Counted are the named functions that `execute` reaches and in which the context stands, as a parameter or from the
 * function around.
 */
import { join } from 'node:path';

import ts from 'typescript';

import { ROOT } from '../../lab/paths';

const NODES = join(ROOT, 'nodes');
/** By the folder of a node, how many there may be. */
const MAXIMA = { ChatCompletion: 65, CreateVideo: 122, FunctionCallingAgent: 81 };
const fileOf = (node: string) => join(NODES, node, `${node}.node.ts`);

const { config } = ts.readConfigFile(join(ROOT, 'tsconfig.json'), (file) =>
	ts.sys.readFile(file),
) as { readonly config?: object };
const files = Object.keys(MAXIMA).map(fileOf);
const { options } = ts.parseJsonConfigFileContent({ ...config, files, include: [] }, ts.sys, ROOT);
const program = ts.createProgram(files, options);
const checker = program.getTypeChecker();

const CONTEXTS = ['IExecuteFunctions', 'ISupplyDataFunctions', 'NodeContext'];

/** The folder whose functions take a context of any type. */
const ENGINE = join(NODES, 'shared/engine');

/** Whether a type is that of a context, or of a part of one. */
function isContext(type: ts.Type): boolean {
	const name = (type.aliasSymbol ?? type.getSymbol())?.name ?? '';
	if (CONTEXTS.includes(name)) return true;
	return ['Partial', 'Pick', 'Omit'].includes(name) && isContext(type.aliasTypeArguments![0]!);
}

type Named =
	ts.FunctionDeclaration | ts.MethodDeclaration | ts.ArrowFunction | ts.FunctionExpression;

function isNamed(node: ts.Node): node is Named {
	if (ts.isFunctionDeclaration(node) || ts.isMethodDeclaration(node)) return true;
	if (!ts.isArrowFunction(node) && !ts.isFunctionExpression(node)) return false;
	return ts.isVariableDeclaration(node.parent) || ts.isPropertyAssignment(node.parent);
}

function nameOf(node: Named): string {
	const { name } = ts.isArrowFunction(node) ? (node.parent as ts.VariableDeclaration) : node;
	return `${node.getSourceFile().fileName.slice(NODES.length + 1)} ${name!.getText()}`;
}

/** What a name stands for in the nodes: functions, and the values of constants. */
function meanings(name: ts.Identifier): readonly ts.Node[] {
	let symbol = ts.isShorthandPropertyAssignment(name.parent)
		? checker.getShorthandAssignmentValueSymbol(name.parent)
		: checker.getSymbolAtLocation(name);
	if (symbol && symbol.flags & ts.SymbolFlags.Alias) symbol = checker.getAliasedSymbol(symbol);
	return (symbol?.declarations ?? []).flatMap((declaration) => {
		if (!declaration.getSourceFile().fileName.startsWith(NODES)) return [];
		let found: ts.Node = declaration;
		while (ts.isBindingElement(found)) found = found.parent.parent;
		if (ts.isVariableDeclaration(found) || ts.isPropertyAssignment(found))
			return found.initializer ?? [];
		return isNamed(found) ? found : [];
	});
}

/** The functions that depend on the context. */
function functionsOf(node: string): readonly string[] {
	const found = new Set<Named>();
	const seen = new Set<ts.Node>();
	function walk(each: ts.Node): void {
		if (ts.isTypeNode(each) || seen.has(each)) return;
		seen.add(each);
		const isName = ts.isIdentifier(each);
		const isInEngine = isName && each.getSourceFile().fileName.startsWith(ENGINE);
		const mayBe = isName || each.kind === ts.SyntaxKind.ThisKeyword;
		if (
			(isInEngine && each.text === 'context') ||
			(mayBe && isContext(checker.getTypeAtLocation(each)))
		)
			for (let around = each; !ts.isSourceFile(around); around = around.parent)
				if (isNamed(around)) found.add(around);
		if (isName) meanings(each).forEach(walk);
		ts.forEachChild(each, walk);
	}
	function start(each: ts.Node): void {
		if (ts.isMethodDeclaration(each) && each.name.getText() === 'execute') walk(each);
		ts.forEachChild(each, start);
	}
	start(program.getSourceFile(fileOf(node))!);
	return [...found].map(nameOf).sort();
}

test.each(Object.entries(MAXIMA))('of %s at most %i functions use the context', (node, max) => {
	const found = functionsOf(node);
	process.stdout.write(`${node}: ${found.length} functions use the context\n`);
	expect(found.slice(0, found.length <= max ? 0 : undefined)).toStrictEqual([]);
});
