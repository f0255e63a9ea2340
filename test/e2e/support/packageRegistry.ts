import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer as createProxy } from 'node:http';
import { createServer } from 'node:https';
import { connect, type AddressInfo, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { generate } from 'selfsigned';

import { N8N_HOME } from '../../../lab/paths';

const LOOPBACK = '127.0.0.1';

/** A version of a package: its package.json, and its packed file. */
export interface PackedVersion {
	readonly manifest: { readonly name: string; readonly version: string };
	readonly file: string;
}

/** A registry with one package, in place of the one that n8n installs from. */
export interface PackageRegistry {
	/** Environment variables of an n8n that installs from it. */
	readonly settings: Readonly<Record<string, string>>;
	/** Makes a version available; it is the latest one. */
	publish(version: PackedVersion): void;
	stop(): Promise<void>;
}

/**
 * Starts a registry on loopback. n8n takes the address of its registry from its code, so a proxy leads that one host name
 * here and rejects all others; the certificate is signed by an authority that only this n8n knows.
 */
export async function startPackageRegistry(): Promise<PackageRegistry> {
	const { hostname } = new URL(defaultRegistry());
	const folder = await mkdtemp(join(tmpdir(), 'registry-'));
	const authority = await generate([{ name: 'commonName', value: 'Test authority' }], {
		extensions: [{ name: 'basicConstraints', cA: true, critical: true }],
	});
	const own = await generate([{ name: 'commonName', value: hostname }], {
		ca: { key: authority.private, cert: authority.cert },
		extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: hostname }] }],
	});
	const authorityFile = join(folder, 'authority.pem');
	await writeFile(authorityFile, authority.cert);

	const versions: PackedVersion[] = [];
	const registry = createServer({ key: own.private, cert: own.cert }, (request, response) => {
		const answer = respond(versions, hostname, decodeURIComponent(request.url ?? '/'));
		response.writeHead(answer === undefined ? 404 : 200);
		response.end(answer ?? '{}');
	});
	const proxy = createProxy();
	proxy.on('connect', ({ url }, client) => {
		client.on('error', () => client.destroy());
		if (url !== `${hostname}:443`) {
			client.end('HTTP/1.1 403 Forbidden\r\n\r\n');
			return;
		}
		const { port } = registry.address() as AddressInfo;
		const server = connect(port, LOOPBACK, () => {
			client.write('HTTP/1.1 200 Connection Established\r\n\r\n');
			server.pipe(client).pipe(server);
		});
		server.on('error', () => client.destroy());
	});
	await listen(registry);
	await listen(proxy);
	return {
		settings: {
			HTTPS_PROXY: `http://${LOOPBACK}:${(proxy.address() as AddressInfo).port}`,
			NO_PROXY: `${LOOPBACK},localhost`,
			NODE_EXTRA_CA_CERTS: authorityFile,
		},
		publish: (version) => {
			versions.push(version);
		},
		stop: async () => {
			proxy.closeAllConnections();
			registry.closeAllConnections();
			proxy.close();
			registry.close();
			await rm(folder, { recursive: true, force: true });
		},
	};
}

/** The address of the registry that n8n installs from. */
function defaultRegistry(): string {
	const file = 'n8n/dist/modules/community-packages/community-packages.config.js';
	const code = readFileSync(join(N8N_HOME, 'node_modules', file), 'utf8');
	const [, address] = /this\.registry = '([^']+)'/.exec(code) ?? [];
	if (address === undefined) throw new Error('n8n has no default registry');
	return address;
}

/** What the registry answers: a package, one version of it, or a packed file. */
function respond(
	versions: readonly PackedVersion[],
	hostname: string,
	path: string,
): string | Buffer | undefined {
	const latest = versions.at(-1);
	if (latest === undefined) return undefined;
	const { name } = latest.manifest;
	const [, second = '', third = ''] = path.slice(1).split('/');
	if (second === '-')
		return readFileSync(
			versions.find(({ manifest }) => third.includes(manifest.version))!.file,
		);
	const details = versions.map(({ manifest, file }) => {
		const bytes = readFileSync(file);
		const dist = {
			tarball: `https://${hostname}/${name}/-/${name}-${manifest.version}.tgz`,
			integrity: `sha512-${createHash('sha512').update(bytes).digest('base64')}`,
			shasum: createHash('sha1').update(bytes).digest('hex'),
		};
		return [manifest.version, { ...manifest, dist }] as const;
	});
	if (path === `/${name}`) {
		return JSON.stringify({
			name,
			'dist-tags': { latest: latest.manifest.version },
			versions: Object.fromEntries(details),
		});
	}
	if (!path.startsWith(`/${name}/`)) return undefined;
	const wanted = second === 'latest' ? latest.manifest.version : second;
	const found = details.find(([version]) => version === wanted);
	return found && JSON.stringify(found[1]);
}

async function listen(server: Server): Promise<void> {
	await new Promise<void>((resolve) => server.listen(0, LOOPBACK, resolve));
}
