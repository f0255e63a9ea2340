const { existsSync, readdirSync, readFileSync } = require('node:fs');
const { join, resolve } = require('node:path');

const ROOT = resolve(__dirname, '..');
/** The folder of the package that a file belongs to. */
const PACKAGE = /^.*node_modules[/\\](?:@[^/\\]+[/\\])?[^/\\]+/;

/**
 * The notices that the licenses of bundled libraries ask for, as Markdown.
 *
 * @param {readonly string[]} files All files that were bundled, as esbuild's metafile lists them.
 * @throws Error when a library has no license text: add it to scripts/licenses.
 */
function thirdPartyNotices(files) {
	const folders = new Set(files.flatMap((file) => PACKAGE.exec(file)?.[0] ?? []));
	const sections = [...folders].map((folder) => noticeOf(resolve(ROOT, folder)));
	const head =
		'# Third-party notices\n\nThe files of this package contain code of these libraries.';
	return [head, ...sections.sort()].join('\n\n') + '\n';
}

/** @param {string} folder */
function noticeOf(folder) {
	const { name, version, license } = JSON.parse(
		readFileSync(join(folder, 'package.json'), 'utf8'),
	);
	const texts = readdirSync(folder)
		.filter((file) => /^(licen[cs]e|copying|notice)/i.test(file))
		.map((file) => join(folder, file));
	// Some packages are published without the text that their repository has.
	const kept = join(ROOT, 'scripts', 'licenses', `${name}.txt`);
	if (texts.length === 0 && existsSync(kept)) texts.push(kept);
	if (texts.length === 0)
		throw new Error(`${name} has no license text. Add it as scripts/licenses/${name}.txt`);
	const quoted = texts.map((file) => readFileSync(file, 'utf8').trim()).join('\n\n');
	return `## ${name} ${version}\n\nLicense: ${license}\n\n\`\`\`\n${quoted}\n\`\`\``;
}

module.exports = { thirdPartyNotices };
