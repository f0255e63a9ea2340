/** The container files. There is no Docker here: they are linted, and their commands run without a container. */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { DockerfileParser } from 'dockerfile-ast';
import { validate } from 'dockerfile-utils';
import { parse } from 'yaml';

import { ROOT } from '../../lab/paths';
import { NODE_NAMES, PACKAGE_NAME } from '../../scripts/nodePages';
import { packPackage } from '../../scripts/packPackage';
import { gitOverCheckout } from '../support/gitOverCheckout';

interface Service {
	readonly image: string;
	readonly build?: object;
	readonly pull_policy?: string;
	readonly environment?: Readonly<Record<string, string>>;
	readonly secrets?: readonly string[];
	readonly healthcheck?: { readonly test: readonly string[] };
}
interface Compose {
	readonly services: Readonly<Record<string, Service>>;
	readonly secrets: Readonly<Record<string, { readonly file: string }>>;
}

const FOLDER = join(ROOT, 'docker');
const read = (...path: readonly string[]) => readFileSync(join(ROOT, ...path), 'utf8');
const COMPOSE_FILES = readdirSync(FOLDER).filter((file) => file.endsWith('.yaml'));
const COMPOSES = COMPOSE_FILES.map((file) => ({
	file,
	compose: parse(read('docker', file), { merge: true }) as Compose,
}));
const SERVICES = COMPOSES.flatMap(({ file, compose }) =>
	Object.entries(compose.services).map(([name, service]) => ({ file, name, service, compose })),
);
const DOCKERFILE = read('docker', 'Dockerfile');
const { dependencies } = JSON.parse(read('lab', 'n8n', 'pinned', 'package.json')) as {
	dependencies: { n8n: string };
};
const { version } = JSON.parse(read('package.json')) as { version: string };

test.each(COMPOSE_FILES)(
	'docker/%s is valid by the schema of Compose, and dclint reports nothing',
	(file) => {
		const bin = join(ROOT, 'node_modules', 'dclint', 'bin', 'dclint.cjs');
		const { stdout } = spawnSync(
			process.execPath,
			[
				bin,
				'--formatter',
				'json',
				'--config',
				join(FOLDER, '.dclintrc.json'),
				join(FOLDER, file),
			],
			{ encoding: 'utf8' },
		);
		const [result] = JSON.parse(stdout) as [{ messages: object[] }];
		expect(result.messages).toStrictEqual([]);
	},
);

test.each([
	['docker/Dockerfile', DOCKERFILE],
	['emulator/Dockerfile', read('emulator', 'Dockerfile')],
])('%s has no mistake that dockerfile-utils knows', (_file, text) => {
	expect(validate(text).map(({ message }) => message)).toStrictEqual([]);
});

test('one service builds an image, and the others do not look for it in a registry', () => {
	for (const { file, compose } of COMPOSES) {
		const own = Object.entries(compose.services).filter(([, { image }]) =>
			image.includes('PACKAGE_VERSION'),
		);
		const built = own.filter(([, { build }]) => build !== undefined);
		expect([file, built.length]).toStrictEqual([file, Math.min(own.length, 1)]);
		const others = own.filter(([, { build }]) => build === undefined);
		for (const [, service] of others) expect(service.pull_policy).toBe('never');
	}
});

test('what the file for queue mode needs is written into .env, which each later command reads', () => {
	const commands = read('docs', 'docker.md');
	for (const [, name] of read('docker', 'compose.queue.yaml').matchAll(/\$\{(\w+):\?/g))
		expect(commands).toContain(`echo ${name}=${version} >> .env`);
});

test('the images have a full version, and n8n is the tested one', () => {
	for (const { image } of SERVICES.map(({ service }) => service))
		expect(image).toMatch(/:(\d+\.\d+(\.\d+)?(-alpine)?|\$\{PACKAGE_VERSION.*\})$/);
	const used = [DOCKERFILE, ...COMPOSE_FILES.map((file) => read('docker', file))].flatMap(
		(text) =>
			[...text.matchAll(/(?:n8nio\/n8n:|N8N_VERSION=)(\d[\d.]*)/g)].map(([, used]) => used),
	);
	expect([...new Set(used)]).toStrictEqual([dependencies.n8n]);
});

test.each(SERVICES)(
	'$file: $name gets its passwords from files, which git ignores',
	({ service, compose }) => {
		const { environment = {}, secrets = [] } = service;
		const ofSecret = Object.entries(environment).filter(([name]) =>
			/KEY|PASSWORD|TOKEN/.test(name),
		);
		expect(
			ofSecret.map(([name]) => name).filter((name) => !name.endsWith('_FILE')),
		).toStrictEqual([]);
		expect(ofSecret.map(([, path]) => path.replace('/run/secrets/', '')).sort()).toStrictEqual(
			[...new Set(secrets)].sort(),
		);
		for (const name of secrets) {
			const { file } = compose.secrets[name]!;
			const path = join('docker', file);
			expect(gitOverCheckout('check-ignore', '--no-index', path).trim()).toBe(path);
		}
	},
);

test('n8n knows every variable that the services set', () => {
	const folder = join(ROOT, 'node_modules', '@n8n', 'config', 'dist');
	const known = readdirSync(folder, { recursive: true, encoding: 'utf8' })
		.filter((file) => file.endsWith('.js'))
		.flatMap((file) =>
			[...readFileSync(join(folder, file), 'utf8').matchAll(/Env\)\('(\w+)'/g)].map(
				([, name]) => name!,
			),
		);
	// What n8n itself reads, and the operating system.
	const others = [
		'N8N_REINSTALL_MISSING_PACKAGES',
		'OFFLOAD_MANUAL_EXECUTIONS_TO_WORKERS',
		'TZ',
		'WEBHOOK_URL',
	];
	const set = SERVICES.filter(({ service }) => service.image.includes('n8n')).flatMap(
		({ service }) => Object.keys(service.environment ?? {}),
	);
	const unknown = set
		.map((name) => name.replace(/_FILE$/, ''))
		.filter((name) => ![...known, ...others].includes(name));
	expect([...new Set(unknown)]).toStrictEqual([]);
});

describe('without a container', () => {
	let folder: string;
	beforeEach(() => {
		folder = mkdtempSync(join(tmpdir(), 'docker-'));
	});
	afterEach(() => {
		rmSync(folder, { recursive: true, force: true });
	});

	test("the Dockerfile's command installs the packed file where n8n finds it, under the types of exported workflows", async () => {
		const home = join(folder, 'home');
		const context = join(folder, 'n8n-nodes-agent-video');
		mkdirSync(context);
		await packPackage(context);
		const [command] = DockerfileParser.parse(DOCKERFILE)
			.getInstructions()
			.filter((instruction) => instruction.getKeyword() === 'RUN')
			.map((instruction) => instruction.getArgumentsContent()!);
		const here = command!.replaceAll('/home/node', home).replaceAll('/opt', folder);
		execFileSync('sh', ['-ec', here], {
			env: { PATH: process.env['PATH'], HOME: home, PACKAGE_VERSION: version },
			stdio: 'pipe',
		});

		const loading = `
			const { scanDirectoryForPackages } = require('n8n-core');
			void (async () => {
				const loaders = await scanDirectoryForPackages(process.argv[1], { excludeNodes: [], includeNodes: [] });
				for (const loader of loaders) await loader.loadAll();
				const found = loaders.map(({ packageName, known }) => [packageName, Object.keys(known.nodes).length]);
				console.log(JSON.stringify(found));
			})();
		`;
		// As n8n does it: the nodes find n8n-workflow among n8n's own packages.
		const env = { ...process.env, NODE_PATH: join(ROOT, 'node_modules') };
		const nodes = join(home, '.n8n', 'nodes', 'node_modules');
		const found = execFileSync(process.execPath, ['-e', loading, nodes], {
			env,
			encoding: 'utf8',
		});
		expect(JSON.parse(found)).toStrictEqual([[PACKAGE_NAME, NODE_NAMES.length]]);
	}, 60_000);

	test.each([
		{ answer: 'is ready', status: 200, code: 0 },
		{ answer: 'is not ready', status: 503, code: 1 },
		{ answer: 'does not answer', status: undefined, code: 1 },
	])(
		'the health checks report n8n as healthy only if it is ready: n8n $answer',
		async ({ status, code }) => {
			const server = createServer(({ url }, response) => {
				response.writeHead(url === '/healthz/readiness' ? status! : 404).end();
			}).listen(0, '127.0.0.1');
			await once(server, 'listening');
			const { port } = server.address() as AddressInfo;
			if (status === undefined) server.close();
			try {
				const checks = SERVICES.map(({ service }) => service.healthcheck!.test).filter(
					([, program]) => program === 'node',
				);
				expect(checks.length).toBeGreaterThan(1);
				for (const [, , ...args] of checks) {
					const here = args.map((arg) => arg.replace(':5678', `:${port}`));
					const [exit] = (await once(spawn(process.execPath, here), 'close')) as [number];
					expect(exit).toBe(code);
				}
			} finally {
				server.close();
			}
		},
	);
});
