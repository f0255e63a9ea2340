/**
 * Checks types, and lints the files whose content, or a type that they use, has changed since the last run without errors;
 * in a fresh clone all files. ESLint's own cache looks at a file's content alone, but its rules read the types of what the
 * file imports. One program serves both: building it a second time takes as long as all rules.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

import { ESLint } from 'eslint';
import ts from 'typescript';

const root = join(import.meta.dirname, '..');

function incrementalProgram() {
	// New rules or libraries may see other errors in every file.
	const hash = createHash('sha256');
	for (const file of ['eslint.config.mjs', 'package-lock.json'])
		hash.update(readFileSync(join(root, file)));
	const name = `lint-${hash.digest('hex').slice(0, 12)}.tsbuildinfo`;
	const { fileNames, options } = ts.getParsedCommandLineOfConfigFile(
		join(root, 'tsconfig.json'),
		{
			incremental: true,
			tsBuildInfoFile: join(root, '.cache', name),
			// With it, TypeScript names only the changed file itself. What it finds, consistent-type-exports does.
			isolatedModules: false,
		},
		{
			...ts.sys,
			onUnRecoverableConfigFileDiagnostic: ({ messageText }) => {
				throw new Error(ts.flattenDiagnosticMessageText(messageText, '\n'));
			},
		},
	);
	return ts.createIncrementalProgram({
		rootNames: fileNames,
		options,
		createProgram: ts.createSemanticDiagnosticsBuilderProgram,
	});
}

/** The files that a change affects, and the errors of their types. */
function check(program) {
	const affected = new Set();
	const errors = [...program.getOptionsDiagnostics(), ...program.getSyntacticDiagnostics()];
	for (let next; (next = program.getSemanticDiagnosticsOfNextAffectedFile());) {
		const files = 'fileName' in next.affected ? [next.affected] : program.getSourceFiles();
		for (const { fileName } of files)
			if (!fileName.includes('/node_modules/')) affected.add(relative(root, fileName));
		errors.push(...next.result);
	}
	return { affected, errors };
}

const program = incrementalProgram();
const { affected, errors } = check(program);
const host = { ...ts.sys, getCanonicalFileName: (name) => name, getNewLine: () => '\n' };
process.stdout.write(ts.formatDiagnostics(errors, host));

const parserOptions = { projectService: false, programs: [program.getProgram()] };
const eslint = new ESLint({
	cwd: root,
	warnIgnored: false,
	overrideConfig: [{ files: ['**/*.ts'], languageOptions: { parserOptions } }],
});
// The other files are few, and no rule reads types for them.
const results = await eslint.lintFiles(['**/*.{js,mjs}', 'package.json', ...affected]);
const formatter = await eslint.loadFormatter();
process.stdout.write(await formatter.format(results));
const hasFindings = ({ errorCount, warningCount }) => errorCount + warningCount > 0;
if (errors.length > 0 || results.some(hasFindings)) process.exitCode = 1;
// What is written here is not looked at again.
else program.emit();
