/**
 * How many functions of the nodes depend on n8n's context: the others take values, or the run that is made of it once.
 * Counted are the named functions in which the context stands, as a parameter or from the function around.
 */
import { join } from 'node:path';

import ts from 'typescript';

import { ROOT } from '../../lab/paths';
import { NODE_NAMES } from '../../scripts/nodePages';

const NODES = join(ROOT, 'nodes');
const MAX = 180;
const CONTEXTS = ['IExecuteFunctions', 'ISupplyDataFunctions', 'NodeContext'];
/** The folder whose functions take a context of any type. */
const ENGINE = join(NODES, 'shared/engine');

const { config } = ts.readConfigFile(join(ROOT, 'tsconfig.json'), (file) =>
	ts.sys.readFile(file),
) as { readonly config?: object };
const files = NODE_NAMES.map((node) => join(NODES, node, `${node}.node.ts`));
const { options } = ts.parseJsonConfigFileContent({ ...config, files, include: [] }, ts.sys, ROOT);
const program = ts.createProgram(files, options);
const checker = program.getTypeChecker();

/** Whether a type is that of a context, or of a part of one. */
function isContext(type: ts.Type): boolean {
	const name = (type.aliasSymbol ?? type.getSymbol())?.name ?? '';
	if (CONTEXTS.includes(name)) return true;
	return ['Partial', 'Pick', 'Omit'].includes(name) && isContext(type.aliasTypeArguments![0]!);
}

function isNamed(node: ts.Node): boolean {
	if (ts.isFunctionDeclaration(node) || ts.isMethodDeclaration(node)) return true;
	if (!ts.isArrowFunction(node) && !ts.isFunctionExpression(node)) return false;
	return ts.isVariableDeclaration(node.parent) || ts.isPropertyAssignment(node.parent);
}

/** The functions of a file that depend on the context. */
function functionsIn(source: ts.SourceFile): readonly ts.Node[] {
	const found = new Set<ts.Node>();
	function walk(each: ts.Node): void {
		if (ts.isTypeNode(each)) return;
		const isOfEngine = source.fileName.startsWith(ENGINE) && each.getText() === 'context';
		const mayBe = ts.isIdentifier(each) || each.kind === ts.SyntaxKind.ThisKeyword;
		if (mayBe && (isOfEngine || isContext(checker.getTypeAtLocation(each))))
			for (let around = each; !ts.isSourceFile(around); around = around.parent)
				if (isNamed(around)) found.add(around);
		ts.forEachChild(each, walk);
	}
	walk(source);
	return [...found];
}

test('few functions use the context', () => {
	const own = program.getSourceFiles().filter(({ fileName }) => fileName.startsWith(NODES));
	const counts = own.map((file) => [
		file.fileName.slice(NODES.length + 1),
		functionsIn(file).length,
	]);
	const total = counts.reduce((sum, [, count]) => sum + Number(count), 0);
	expect(total <= MAX ? [] : [total, counts]).toStrictEqual([]);
});
