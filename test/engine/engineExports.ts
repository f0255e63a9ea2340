import { join } from 'node:path';

import ts from 'typescript';

import { ROOT } from '../../lab/paths';

/** The folder that touches what n8n does not promise. */
export const ENGINE = 'nodes/shared/engine/';

/** Exports of that folder that need nothing of n8n by themselves, with the reason. */
export const NEEDS_NOTHING: Readonly<Record<string, string>> = {
	internalsOf: 'gives what the others read',
	keyOf: 'is a text',
	missing: 'is an error',
	nodeOf: 'asks n8n where it has to',
	...{ sleepSlice: 'uses what n8n documents', eventLoopTurn: 'uses what n8n documents' },
	n8nClock: 'uses what n8n documents',
	...{ PAGE: 'is a number', MAX_CONDITIONS: 'is a number', oneOf: 'is a value' },
	...{ theseRows: 'is a value', idRange: 'is a value' },
	TableError: 'is an error',
	...{ leftIn: 'reads what leave has put', takeBack: 'removes what leave has put' },
	...{ placeOfItem: 'reads what leave has put', linkedToPlaces: 'reads what leave has put' },
};

/** An export of the folder: where it stands, its name, and its comment. */
export interface EngineExport {
	readonly file: string;
	readonly name: string;
	readonly doc: string;
	/** The file of n8n that it was read in, below its node_modules. */
	readonly read: string | undefined;
}

/** All exports of the folder but types. */
export function engineExports(): readonly EngineExport[] {
	return ts.sys.readDirectory(join(ROOT, ENGINE), ['.ts']).flatMap((file) => {
		const text = ts.sys.readFile(file)!;
		const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
		return source.statements.flatMap((statement) => {
			const isType =
				ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement);
			const modifiers = ts.canHaveModifiers(statement) ? ts.getModifiers(statement) : [];
			const isExported = modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword);
			if (isType || isExported !== true) return [];
			const [, name = ''] = /(?:function|const|class) (\w+)/.exec(statement.getText()) ?? [];
			const doc = statement.getFullText().split('*/')[0]!;
			const [, read] = /\* n8n \d+\.\d+\.\d+, (\S+\.js)\b/.exec(doc) ?? [];
			return [{ file, name, doc, read }];
		});
	});
}
