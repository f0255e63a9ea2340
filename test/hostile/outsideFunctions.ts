import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import ts from 'typescript';

const NODES = join(__dirname, '../../nodes');

/** Types that text from outside comes in. */
const TEXT_TYPE =
	/\b(string|unknown|FieldNames|Json\w*|GenericValue|Buffer|Uint8Array|ChatCompletion|JudgedReply|ReplyMessage|ToolCall|ChatMessage|SdkMessage|INodeExecutionData|EngineResponse|HttpPort|HttpResponse|FileResponse|ToolProgressEvent|TaskReport|Error|ServiceError)\b/;

/** The exported functions below nodes/ with a parameter that text from outside may come in, as `folder#function`. */
export function outsideFunctions(): string[] {
	return readdirSync(NODES, { recursive: true, encoding: 'utf8' })
		.filter((file) => file.endsWith('.ts'))
		.flatMap((file) => {
			const text = readFileSync(join(NODES, file), 'utf8');
			const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
			return source.statements
				.flatMap(exportedFunctions)
				.filter(({ parameters }) => parameters.some(takesText))
				.map(({ name }) => `${dirname(file)}#${name}`);
		});
}

interface ExportedFunction {
	readonly name: string;
	readonly parameters: readonly ts.ParameterDeclaration[];
}

function exportedFunctions(statement: ts.Statement): ExportedFunction[] {
	const modifiers = ts.canHaveModifiers(statement) ? ts.getModifiers(statement) : undefined;
	if (!modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)) return [];
	if (ts.isFunctionDeclaration(statement)) {
		return [{ name: statement.name!.text, parameters: [...statement.parameters] }];
	}
	if (!ts.isVariableStatement(statement)) return [];
	return statement.declarationList.declarations.flatMap(({ name, initializer }) =>
		initializer !== undefined && ts.isArrowFunction(initializer)
			? [{ name: name.getText(), parameters: [...initializer.parameters] }]
			: [],
	);
}

/** Without a type, the default value gives it. */
function takesText({ type, initializer }: ts.ParameterDeclaration): boolean {
	if (type !== undefined) return TEXT_TYPE.test(type.getText());
	return initializer !== undefined && ts.isStringLiteralLike(initializer);
}
