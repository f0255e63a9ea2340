const fs = require('node:fs');
const { join } = require('node:path');

/** Lets tests read what a mutant has changed in a file that is not compiled, such as a workflow of CI: see mutantTransform.js. */
const { file, from, to } = JSON.parse(process.env.MUTANT);
const mutated = join(__dirname, '../..', file);
const read = fs.readFileSync;
fs.readFileSync = (path, ...rest) => {
	const content = read(path, ...rest);
	const isMutated = path === mutated && typeof content === 'string';
	return isMutated ? content.replace(from, () => to) : content;
};
