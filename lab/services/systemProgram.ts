import { existsSync, globSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

import { runCommand } from './runCommand';

interface SystemProgram {
	/** Where to find it: a name is looked up in PATH, a path may contain wildcards. */
	readonly places: readonly string[];
	/** The Debian package that contains it. */
	readonly debianPackage: string;
}

/** Programs of the operating system that the lab uses: npm does not provide them. */
const PROGRAMS = {
	chromium: {
		// Without the parts that draw a window, it needs half the processor time for a page.
		places: ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'],
		debianPackage: 'chromium-headless-shell',
	},
	nginx: { places: ['nginx', '/usr/sbin/nginx'], debianPackage: 'nginx' },
	postgres: {
		places: ['/usr/lib/postgresql/*/bin/postgres', 'postgres'],
		debianPackage: 'postgresql',
	},
	redis: { places: ['redis-server'], debianPackage: 'redis-server' },
} as const satisfies Record<string, SystemProgram>;

type ProgramName = keyof typeof PROGRAMS;

/**
 * Returns the path of a program of the operating system. If it is missing, it is installed from Debian when this process
 * runs as root; its service is not started.
 *
 * @param onProgress Called with one line when something is installed.
 * @throws Error that names the package to install.
 */
export async function systemProgram(
	name: ProgramName,
	onProgress: (text: string) => void = () => undefined,
): Promise<string> {
	const { places, debianPackage } = PROGRAMS[name];
	const existing = find(places);
	if (existing !== undefined) return existing;

	const command = `apt-get install ${debianPackage}`;
	if (process.getuid?.() !== 0 || find(['apt-get']) === undefined) {
		throw new Error(`${name} is not installed. On Debian, run: ${command}`);
	}
	onProgress(`Installing the Debian package ${debianPackage}: up to two minutes`);
	await installDebianPackage(debianPackage);
	const installed = find(places);
	if (installed === undefined) throw new Error(`${name} was not found after ${command}`);
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

/** Only one process at a time may change Debian's packages and the policy below: jest runs several. */
const LOCK = join(tmpdir(), 'n8n-lab-debian.lock');

/**
 * Installs the Debian package `$1` without starting its service: Debian asks `policy-rc.d` whether it may. A machine
 * that has such a policy keeps it.
 */
const INSTALL = `
set -e
policy=/usr/sbin/policy-rc.d
if [ ! -e $policy ]; then
	trap 'rm -f $policy' EXIT
	trap 'exit 1' INT TERM
	printf '#!/bin/sh\\nexit 101\\n' > $policy
	chmod 755 $policy
fi
apt-get -qq -o DPkg::Lock::Timeout=300 update
apt-get -qq -o DPkg::Lock::Timeout=300 install -y --no-install-recommends "$1"
`;

async function installDebianPackage(name: string): Promise<void> {
	await runCommand('flock', [LOCK, 'sh', '-c', INSTALL, 'sh', name], {
		cwd: '/',
		env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
	});
}
