const { execFile } = require('node:child_process');
const { mkdir, readFile, rm, writeFile } = require('node:fs/promises');
const { basename, dirname, join, posix } = require('node:path');
const { Buffer } = require('node:buffer');
const { Transform } = require('node:stream');
const { promisify } = require('node:util');

const { build: esbuild, transform } = require('esbuild');
const { dest, series, src } = require('gulp');

const { n8n } = require('./package.json');
const { withBuildLock } = require('./lab/services/buildLock');
const { thirdPartyNotices } = require('./scripts/thirdPartyNotices');

/** The files that n8n loads, by their path in dist/: the name of each is the name of its class. */
const loaded = [...n8n.nodes, ...n8n.credentials].map((path) => path.replace(/^dist\//, ''));

async function clean() {
	await rm('dist', { recursive: true, force: true });
}

/** Every command that needs a build checks the types, so only what has changed since the last build is checked again. */
async function types() {
	const tsc = join('node_modules', 'typescript', 'bin', 'tsc');
	const kept = ['--incremental', '--tsBuildInfoFile', join('.cache', 'build.tsbuildinfo')];
	const args = [tsc, '--project', 'tsconfig.build.json', ...kept];
	await promisify(execFile)(process.execPath, args).catch(({ stdout }) => {
		throw new Error(`TypeScript found errors:\n${stdout}`);
	});
}

/** Short names in the libraries, whose sources are published: the package stays small. */
const shortNames = {
	name: 'short names',
	setup(build) {
		build.onLoad({ filter: /[/\\]node_modules[/\\].*\.js$/ }, async ({ path }) => {
			const source = await readFile(path, 'utf8');
			const { code } = await transform(source, { minify: true, legalComments: 'inline' });
			return { contents: code };
		});
	},
};

/**
 * Bundles all nodes and the credential into one file, so that what they share is packed and loaded once, and writes the
 * files that n8n loads. The libraries are bundled; n8n provides n8n-workflow and its AI SDK. Their licenses are kept in a
 * file.
 */
async function bundle() {
	const contents = loaded
		.map((path) => `export * from './${path.replace(/\.js$/, '')}';`)
		.join('\n');
	const { metafile } = await esbuild({
		stdin: { contents, resolveDir: __dirname },
		outfile: join('dist', 'bundle.js'),
		bundle: true,
		metafile: true,
		plugins: [shortNames],
		external: ['n8n-workflow', '@n8n/ai-node-sdk'],
		platform: 'node',
		format: 'cjs',
		target: 'node20',
		// Names stay: errors name the function that threw, and a formatter makes the code readable again.
		minifySyntax: true,
		minifyWhitespace: true,
		// The position in a stack trace is near the code that it names.
		lineLimit: 8_000,
		legalComments: 'inline',
	});
	const notices = thirdPartyNotices(Object.keys(metafile.inputs));
	await writeFile(join('dist', 'THIRD-PARTY-NOTICES.md'), notices);
	await Promise.all(loaded.map(writeEntry));
}

/** @param {string} path */
async function writeEntry(path) {
	const name = basename(path).split('.')[0];
	const file = join('dist', path);
	const bundled = posix.join(
		...dirname(path)
			.split('/')
			.map(() => '..'),
		'bundle.js',
	);
	await mkdir(dirname(file), { recursive: true });
	await writeFile(file, `exports.${name} = require('${bundled}').${name};\n`);
}

function assets() {
	const files = ['icons/*.svg', 'nodes/*/*.node.json', 'nodes/*/__schema__/*.json'];
	return src(files, { base: '.', encoding: false }).pipe(compact()).pipe(dest('dist'));
}

/** JSON without white space, and without what the bundle has of a codex file: the package stays small. */
const compact = () =>
	new Transform({
		objectMode: true,
		transform(file, _encoding, done) {
			if (file.extname === '.json') {
				const content = JSON.parse(file.contents.toString());
				delete content.builderHint;
				file.contents = Buffer.from(JSON.stringify(content));
			}
			done(null, file);
		},
	});

// One build at a time: two demos in one checkout would remove each other's files.
const locked = (tasks) => () => withBuildLock(promisify(tasks));
exports.build = locked(series(types, clean, bundle, assets));
// For `npm run check`, which then checks the types of everything.
exports.bundle = locked(series(clean, bundle, assets));
