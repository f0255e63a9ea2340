const { execFile } = require('node:child_process');
const { rm } = require('node:fs/promises');
const { join } = require('node:path');
const { promisify } = require('node:util');

const { build: esbuild } = require('esbuild');
const { dest, series, src } = require('gulp');

const { n8n } = require('./package.json');

const sources = [...n8n.nodes, ...n8n.credentials].map((path) =>
	path.replace(/^dist\//, '').replace(/\.js$/, '.ts'),
);

async function clean() {
	await rm('dist', { recursive: true, force: true });
}

async function types() {
	const tsc = join('node_modules', 'typescript', 'bin', 'tsc');
	await promisify(execFile)(process.execPath, [tsc, '--project', 'tsconfig.build.json']).catch(
		({ stdout }) => {
			throw new Error(`TypeScript found errors:\n${stdout}`);
		},
	);
}

/** Builds one file per node. The libraries that it uses are bundled; n8n provides n8n-workflow and its AI SDK. */
async function bundle() {
	await esbuild({
		entryPoints: sources,
		outdir: 'dist',
		outbase: '.',
		bundle: true,
		external: ['n8n-workflow', '@n8n/ai-node-sdk'],
		platform: 'node',
		format: 'cjs',
		target: 'node20',
		// Shorter syntax only: names and lines stay, so that the published code can be read.
		minifySyntax: true,
		legalComments: 'inline',
	});
}

function assets() {
	return src(['icons/*.svg', 'nodes/**/*.node.json'], { base: '.', encoding: false }).pipe(
		dest('dist'),
	);
}

exports.build = series(types, clean, bundle, assets);
