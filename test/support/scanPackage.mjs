/**
 * Runs n8n's scanner on two folders, as it runs it on a published package: `node scanPackage.mjs <sources> <packed>`.
 * Prints what it finds in each, as JSON. Its other part asks npm and GitHub where the package comes from.
 */
import {
	analyzePackage,
	SOURCE_FILE_PATTERNS,
} from '@n8n/scan-community-package/scanner/scanner.mjs';

const [sources, packed] = process.argv.slice(2);
const result = {
	sources: await analyzePackage(sources, SOURCE_FILE_PATTERNS),
	packed: await analyzePackage(packed, ['**/*.js', 'package.json']),
};
process.stdout.write(JSON.stringify(result));
