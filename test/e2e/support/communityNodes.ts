import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { Browser, Page } from 'playwright-core';

import { openEditor } from '../../../lab/browser/openEditor';
import { ROOT } from '../../../lab/paths';
import { inPage } from './inPage';
import type { PackedVersion } from './packageRegistry';

export const PACKAGE = 'n8n-nodes-agent-video';
/** What the texts of the second version have and those of the first do not. */
export const MARK = '(second version)';

/** Two versions of the package, as packed files in a temporary folder. */
export interface TwoVersions {
	readonly first: PackedVersion;
	readonly second: PackedVersion;
	/** Removes the folder. */
	stop(): Promise<void>;
}

/** Packs the built package, and the same with the next version number and {@link MARK} after these texts in its code. */
export function packTwoVersions(texts: readonly string[]): TwoVersions {
	const folder = mkdtempSync(join(tmpdir(), 'versions-'));
	const pack = (cwd: string): string => {
		const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder];
		const [{ filename }] = JSON.parse(execFileSync('npm', args, { cwd, encoding: 'utf8' })) as [
			{ filename: string },
		];
		return join(folder, filename);
	};

	const file = pack(ROOT);
	execFileSync('tar', ['-xzf', file, '-C', folder]);
	const unpacked = join(folder, 'package');
	const manifest = JSON.parse(
		readFileSync(join(unpacked, 'package.json'), 'utf8'),
	) as PackedVersion['manifest'];
	const [major, minor] = manifest.version.split('.');
	const next = { ...manifest, version: `${major}.${Number(minor) + 1}.0` };
	writeFileSync(join(unpacked, 'package.json'), JSON.stringify(next));
	const bundle = join(unpacked, 'dist', 'bundle.js');
	let code = readFileSync(bundle, 'utf8');
	for (const text of texts) {
		if (!code.includes(text)) throw new Error(`The package does not contain "${text}"`);
		code = code.replace(text, `${text} ${MARK}`);
	}
	writeFileSync(bundle, code);
	return {
		first: { manifest, file },
		second: { manifest: next, file: pack(unpacked) },
		stop: () => rm(folder, { recursive: true, force: true }),
	};
}

/** Timeout of an installation by npm, in milliseconds. A shared machine took more than a minute. */
const INSTALL_LIMIT_MS = 180_000;

/** The page Settings > Community nodes of an n8n, with what a person does there. */
export interface CommunityNodesPage {
	readonly page: Page;
	/** Installs the package and waits until the page lists this version. */
	install(version: PackedVersion): Promise<void>;
	/** Waits until the page offers an update. */
	updateOffered(): Promise<void>;
	/** Updates the package and waits until the page lists this version. */
	update(version: PackedVersion): Promise<void>;
	/** Removes the package and waits until the page does not list it. */
	uninstall(): Promise<void>;
	/** The descriptions of all nodes, as the editor gets them. */
	descriptions(): Promise<string>;
}

/**
 * Works on the page Settings > Community nodes.
 *
 * @param name Part of the file name of the screenshot that is saved if it fails.
 */
export async function onCommunityNodes(
	browser: Browser,
	url: string,
	name: string,
	work: (settings: CommunityNodesPage) => Promise<void>,
): Promise<void> {
	const editor = await openEditor(browser, url);
	await inPage(editor, `installation-${name}`, async ({ page, goTo }) => {
		await goTo('/settings/community-nodes');
		const card = page.getByTestId('community-package-card');
		const updateButton = card.getByRole('button', { name: /Update/ });
		const listed = async ({ manifest }: PackedVersion) => {
			await card.getByText(`v${manifest.version}`).waitFor({ timeout: INSTALL_LIMIT_MS });
		};
		await work({
			page,
			install: async (version) => {
				await page.getByRole('button', { name: 'Install a community node' }).click();
				await page.getByTestId('package-name-input').fill(PACKAGE);
				await page.getByTestId('user-agreement-checkbox').click();
				await page.getByTestId('install-community-package-button').click();
				await page.getByText('Package installed').waitFor({ timeout: INSTALL_LIMIT_MS });
				await listed(version);
				await card.getByText('6 nodes').waitFor();
			},
			updateOffered: () => updateButton.waitFor(),
			update: async (version) => {
				await updateButton.click();
				const dialog = page.getByRole('dialog');
				await dialog.getByRole('button', { name: 'Confirm update' }).click();
				await listed(version);
			},
			uninstall: async () => {
				await card.getByTestId('action-toggle').click();
				await page.getByText('Uninstall package').click();
				await page.getByRole('button', { name: 'Confirm uninstall' }).click();
				await card.waitFor({ state: 'detached' });
			},
			descriptions: async () => {
				// n8n may close an idle connection just when it is used again.
				const { request } = page.context();
				const answer = await request.get(`${url}/types/nodes.json`, { maxRetries: 2 });
				return await answer.text();
			},
		});
	});
}
