import { execFile } from 'node:child_process';
import { existsSync, globSync } from 'node:fs';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { ROOT } from '../lab/paths';
import { withBuildLock } from '../lab/services/buildLock';

/** What is packed; npm adds package.json itself. */
const CONTENT = ['dist', 'LICENSE', 'README.md', 'package.json'] as const;
/** Fields of package.json that only a checkout needs. */
const REPOSITORY_FIELDS = ['scripts', 'devDependencies'] as const;
/** Texts whose addresses are made absolute. */
const TEXTS = ['*.md', 'dist/nodes/*/*.node.json'] as const;

/** A part of a page that is about the repository: its commands do not exist in the installed package. */
const REPOSITORY_PART = /<!-- only in the repository -->.*?<!-- end -->\n*/gs;
/** Relative targets of links; pictures come first because their syntax contains that of links. */
const PICTURES = /((?:src|srcset)="|!\[[^\]]*\]\()(?!https?:|#)([^")]+)/g;
const LINKS = /((?<!!\[[^\]]*)\]\()(?!https?:|#)([^)]+)/g;

interface Manifest {
	readonly name: string;
	readonly version: string;
	readonly homepage: string;
}

/**
 * Turns a text of the repository into that of the package: without the parts about the repository, and with absolute
 * addresses of the files at the tag of the version. The pages of npm and n8n's editor do not have these files.
 *
 * @param folder The folder of the text, with a slash at its end.
 * @param manifest Version of the package, and `homepage`, the address of the repository.
 */
export function packedText(text: string, { version, homepage }: Manifest, folder = ''): string {
	const at = (kind: string) => `${homepage}/${kind}/v${version}/${folder}`;
	return text
		.replace(REPOSITORY_PART, '')
		.replace(PICTURES, `$1${at('raw')}$2`)
		.replace(LINKS, `$1${at('blob')}$2`)
		.replaceAll(`${homepage}/blob/main/`, at('blob'));
}

/**
 * Packs the built package into a folder, as npm publishes it.
 *
 * `npm pack` in the checkout would pack the texts as they are, and whatever is in `dist`.
 *
 * @returns The path of the packed file.
 * @throws Error if the package has not been built, or with npm's message.
 */
export async function packPackage(destination: string): Promise<string> {
	if (!existsSync(join(ROOT, 'dist')))
		throw new Error('The package has not been built. Run: npm run build');
	const staging = await mkdtemp(join(tmpdir(), 'pack-'));
	try {
		await withBuildLock(async () => {
			for (const part of CONTENT)
				await cp(join(ROOT, part), join(staging, part), { recursive: true });
		});
		const manifest = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as Manifest;
		for (const path of TEXTS.flatMap((pattern) => globSync(pattern, { cwd: staging }))) {
			const file = join(staging, path);
			await writeFile(file, packedText(await readFile(file, 'utf8'), manifest));
		}
		const others = Object.entries(manifest).filter(
			([name]) => !REPOSITORY_FIELDS.some((field) => field === name),
		);
		const packed = JSON.stringify(Object.fromEntries(others), null, 2);
		await writeFile(join(staging, 'package.json'), `${packed}\n`);
		const args = ['pack', '--ignore-scripts', '--json', '--pack-destination', destination];
		const { stdout } = await promisify(execFile)('npm', args, { cwd: staging });
		const [{ filename }] = JSON.parse(stdout) as [{ filename: string }];
		return join(destination, filename);
	} finally {
		await rm(staging, { recursive: true, force: true });
	}
}
