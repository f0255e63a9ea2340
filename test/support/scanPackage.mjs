/**
 * Runs n8n's community package scanner on two folders: `node scanPackage.mjs <sources> <packed>`. Prints the findings as
 * JSON. The scanner's provenance check is left out, because it asks npm and GitHub about the published package.
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
