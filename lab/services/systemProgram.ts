import { existsSync, globSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';

import { runCommand } from './runCommand';

interface SystemProgram {
	/** Where it may lie: names are looked for in PATH, paths may hold wildcards. */
	readonly places: readonly string[];
	/** The Debian package that brings it. */
	readonly debianPackage: string;
}

/** What the lab takes from the system, because npm has it not. */
const PROGRAMS = {
	chromium: {
		places: ['chromium', 'chromium-browser', 'google-chrome'],
		debianPackage: 'chromium',
	},
	nginx: { places: ['nginx', '/usr/sbin/nginx'], debianPackage: 'nginx' },
	postgres: {
		places: ['/usr/lib/postgresql/*/bin/postgres', 'postgres'],
		debianPackage: 'postgresql',
	},
	redis: { places: ['redis-server'], debianPackage: 'redis-server' },
} as const satisfies Record<string, SystemProgram>;

/** Debian asks this script whether a fresh package may start its service. */
const POLICY = '/usr/sbin/policy-rc.d';

/**
 * The path of a program of the system. Where it is missing, root gets it from Debian, without a service that starts.
 *
 * @param onProgress Told in a line what is installed.
 * @throws Error that names the package to install.
 */
export async function systemProgram(
	name: keyof typeof PROGRAMS,
	onProgress: (text: string) => void = () => undefined,
): Promise<string> {
	const { places, debianPackage } = PROGRAMS[name];
	const there = find(places);
	if (there !== undefined) return there;

	const remedy = `apt-get install ${debianPackage}`;
	if (process.getuid?.() !== 0 || find(['apt-get']) === undefined) {
		throw new Error(`${name} is missing on this machine. Install it, on Debian: ${remedy}`);
	}
	onProgress(`Installing the Debian package ${debianPackage}: up to two minutes`);
	await installDebianPackage(debianPackage);
	const installed = find(places);
	if (installed === undefined) throw new Error(`${remedy} brought no ${name}`);
	return installed;
}

function find(places: readonly string[]): string | undefined {
	const folders = (process.env['PATH'] ?? '').split(delimiter);
	return places
		.flatMap((place) =>
			place.startsWith('/')
				? globSync(place).sort().reverse()
				: folders.map((folder) => join(folder, place)),
		)
		.find((path) => existsSync(path));
}

async function installDebianPackage(name: string): Promise<void> {
	const apt = async (...args: string[]) => {
		await runCommand('apt-get', ['-qq', '-o', 'DPkg::Lock::Timeout=300', ...args], {
			cwd: '/',
			env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
		});
	};
	await apt('update');
	await withoutServices(async () => {
		await apt('install', '-y', '--no-install-recommends', name);
	});
}

/** Only what the lab starts itself may run; a machine with a policy of its own keeps that. */
async function withoutServices(work: () => Promise<void>): Promise<void> {
	if (existsSync(POLICY)) {
		await work();
		return;
	}
	await writeFile(POLICY, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
	try {
		await work();
	} finally {
		await rm(POLICY, { force: true });
	}
}
