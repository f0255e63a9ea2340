/**
 * Lints the files whose content, or a type that they use, has changed since the last run without errors; in CI, which keeps
 * nothing of a last run, all files. ESLint's own cache looks at a file's content alone, but its rules read the types of
 * what the file imports.
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
			// With it, TypeScript names only the changed file itself.
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

/** The files that a change affects. The errors of their types are reported by tsc, which runs beside this. */
function affectedBy(program) {
	const affected = new Set();
	for (let next; (next = program.getSemanticDiagnosticsOfNextAffectedFile());) {
		const files = 'fileName' in next.affected ? [next.affected] : program.getSourceFiles();
		for (const { fileName } of files)
			if (!fileName.includes('/node_modules/')) affected.add(relative(root, fileName));
	}
	return affected;
}

const program = process.env.CI ? undefined : incrementalProgram();
// The other files are few, and no rule reads types for them.
const files = program ? ['**/*.{js,mjs}', 'package.json', ...affectedBy(program)] : ['.'];
const eslint = new ESLint({ cwd: root, warnIgnored: false });
const results = await eslint.lintFiles(files);
const formatter = await eslint.loadFormatter();
process.stdout.write(await formatter.format(results));
if (results.some(({ errorCount, warningCount }) => errorCount + warningCount > 0))
	process.exitCode = 1;
// What is written here is not looked at again.
else program?.emit();
