import { build } from 'esbuild';
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

import { ROOT } from '../lab/paths';
import { packedText } from './packPackage';
import { thirdPartyNotices } from './thirdPartyNotices';

const EMULATOR = join(ROOT, 'emulator');
/** What is packed as it is, beside the bundle. */
const FILES = [
	'package.json',
	'dialects',
	'media/sounds',
	'media/thumbnail.jpg',
	'script/script.schema.json',
	'script/unrecorded.yaml',
];

/**
 * Packs the emulator into a folder, as a package of its own: one file with all its libraries, and what it reads.
 *
 * @returns The path of the packed file.
 */
export async function packEmulator(destination: string): Promise<string> {
	const staging = await mkdtemp(join(tmpdir(), 'pack-emulator-'));
	try {
		const { metafile } = await build({
			entryPoints: [join(EMULATOR, 'cli.ts')],
			outfile: join(staging, 'cli.js'),
			absWorkingDir: ROOT,
			bundle: true,
			metafile: true,
			platform: 'node',
			format: 'cjs',
			target: 'node20',
			minify: true,
			keepNames: true,
			banner: { js: '#!/usr/bin/env node' },
			logLevel: 'error',
		});
		const notices = thirdPartyNotices(Object.keys(metafile.inputs));
		await writeFile(join(staging, 'THIRD-PARTY-NOTICES.md'), notices);
		for (const file of FILES) {
			await mkdir(dirname(join(staging, file)), { recursive: true });
			await cp(join(EMULATOR, file), join(staging, file), { recursive: true });
		}
		await cp(join(ROOT, 'LICENSE'), join(staging, 'LICENSE'));
		const readme = await readFile(join(EMULATOR, 'README.md'), 'utf8');
		const manifest = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as {
			name: string;
			version: string;
			homepage: string;
		};
		await writeFile(join(staging, 'README.md'), packedText(readme, manifest, 'emulator/'));

		const args = ['pack', '--ignore-scripts', '--json', '--pack-destination', destination];
		const { stdout } = await promisify(execFile)('npm', args, { cwd: staging });
		const [{ filename }] = JSON.parse(stdout) as [{ filename: string }];
		return join(destination, filename);
	} finally {
		await rm(staging, { recursive: true, force: true });
	}
}
