const { Buffer } = require('node:buffer');
const fs = require('node:fs');
const { join } = require('node:path');

/**
 * Lets every process that has loaded it read one file as a mutant has changed it, the compiler of the tests first of all:
 * the file stays as it is. See scripts/mutate.ts.
 */
const { file, from, to } = JSON.parse(process.env.MUTANT);
const mutated = join(__dirname, '../..', file);
const read = fs.readFileSync;
fs.readFileSync = (path, ...rest) => {
	const content = read(path, ...rest);
	if (path !== mutated) return content;
	const text = content.toString().replace(from, () => to);
	return typeof content === 'string' ? text : Buffer.from(text);
};
