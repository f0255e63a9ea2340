const { relative } = require('node:path');

const { default: tsJest } = require('ts-jest');

/**
 * Compiles with ts-jest what a mutant has changed, in memory: the files stay as they are. The mutant comes as JSON in the
 * environment variable MUTANT, see scripts/mutate.ts.
 */
module.exports = {
	createTransformer(config) {
		const compiler = tsJest.createTransformer(config);
		const { file, from, to } = JSON.parse(process.env.MUTANT);
		const mutated = (text, path) =>
			relative(`${__dirname}/../..`, path) === file ? text.replace(from, () => to) : text;
		return {
			process: (text, path, options) => compiler.process(mutated(text, path), path, options),
			getCacheKey: (text, path, options) =>
				compiler.getCacheKey(mutated(text, path), path, options),
		};
	},
};
