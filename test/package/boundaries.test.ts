/**
 * Which folder may import from which, and what each may touch. The folders of nodes/ and lab/ are layers: imports point one
 * way, so none of them can form a circle.
 */
import { existsSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

import ts from 'typescript';

import { ROOT } from '../../lab/paths';
import { ENGINE, engineExports, NEEDS_NOTHING } from '../engine/engineExports';
import { read } from './pages';

const CLIENT = ['nodes/client', 'nodes/client/http'];
const CLIENT_LAYERS = [...CLIENT, 'nodes/client/chat', 'nodes/client/video'];
const SHARED_LAYERS = [
	...['nodes/shared/engine', 'nodes/shared/run', 'nodes/shared/form', 'nodes/shared/durable'],
	...['nodes/shared/files', 'nodes/shared/chat', 'nodes/shared/wait'],
];
/** n8n allows community nodes this one module of Node. */
const HOST = ['n8n-workflow', '@n8n/ai-node-sdk', 'node:crypto'];
const ANY_PACKAGE = '*';

/** What each folder may import beside itself: folders, and packages. A folder that is missing here fails. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
	// The client knows neither Node nor n8n.
	'nodes/client': [],
	'nodes/client/http': ['nodes/client', 'ipaddr.js'],
	'nodes/client/chat': [...CLIENT, 'eventsource-parser', '@cfworker/json-schema'],
	'nodes/client/video': CLIENT,
	// Each shared folder may use the ones before it.
	...Object.fromEntries(
		SHARED_LAYERS.map((folder, index) => [
			folder,
			[...CLIENT_LAYERS, ...SHARED_LAYERS.slice(0, index), ...HOST],
		]),
	),
	// A node may not import another node.
	'nodes/<Node>': [...CLIENT_LAYERS, ...SHARED_LAYERS, ...HOST],
	credentials: ['nodes/client/http', 'nodes/client/video', 'nodes/shared/form', 'n8n-workflow'],

	// Only paths.ts and two programs, the compatibility run and the preparation, are not in a folder of the lab.
	'lab/paths.ts': [ANY_PACKAGE],
	'lab/services': ['lab/paths.ts', ANY_PACKAGE],
	'lab/n8n': ['lab/paths.ts', 'lab/services', ANY_PACKAGE],
	'lab/browser': ['lab/paths.ts', 'lab/services', 'lab/n8n', 'emulator', ANY_PACKAGE],
	'lab/demo': [
		...['lab/paths.ts', 'lab/services', 'lab/n8n', 'lab/browser', 'emulator', ANY_PACKAGE],
	],
	'lab/rehearsal': ['lab/paths.ts', 'lab/services', 'lab/n8n', 'emulator', ANY_PACKAGE],
	'lab/compatibility.ts': ['lab/paths.ts', 'lab/services', 'lab/n8n', ANY_PACKAGE],
	'lab/prepare.ts': ['lab/services', 'lab/n8n', ANY_PACKAGE],

	// The emulator reads the specification independently of the client. Its recorder hides keys as the nodes do.
	emulator: ['nodes/shared/run', ANY_PACKAGE],
};

const SOURCES = ['nodes', 'credentials', 'lab', 'emulator', 'test', 'bench', 'scripts'];

/** The TypeScript files below a folder, without those of installed packages. */
function filesBelow(folder: string): string[] {
	return ts.sys
		.readDirectory(join(ROOT, folder), ['.ts', '.mts'], ['**/node_modules'])
		.map((file) => relative(ROOT, file));
}

/** The key of MAY_IMPORT that a file belongs to. */
function layerOf(file: string): string {
	const [top = '', second = ''] = file.split('/');
	if (top === 'lab' && file.split('/').length === 2) return file;
	if (top === 'nodes' && !['client', 'shared'].includes(second)) return 'nodes/<Node>';
	return top === 'nodes' || top === 'lab' ? dirname(file) : top;
}

/** The relative imports of a file, as paths from the root, and the packages that it imports. */
function importsOf(file: string) {
	const specifiers = ts.preProcessFile(read(file)).importedFiles.map(({ fileName }) => fileName);
	return {
		files: specifiers
			.filter((specifier) => specifier.startsWith('.'))
			.map((specifier) => relative(ROOT, resolve(ROOT, dirname(file), specifier)))
			.map((path) => (existsSync(join(ROOT, `${path}.ts`)) ? `${path}.ts` : path)),
		packages: specifiers.filter((specifier) => !specifier.startsWith('.')),
	};
}

const nodeFolder = (file: string) => file.split('/').slice(0, 2).join('/');

/** The imports of a file that its layer does not allow. */
function violations(file: string): string[] {
	const layer = layerOf(file);
	const allowed = MAY_IMPORT[layer] ?? [];
	const { files, packages } = importsOf(file);
	const isOwn = (target: string) =>
		layerOf(target) === layer &&
		(layer !== 'nodes/<Node>' || nodeFolder(target) === nodeFolder(file));
	return [
		...files.filter((target) => !isOwn(target) && !allowed.includes(layerOf(target))),
		...packages.filter((name) => !allowed.includes(ANY_PACKAGE) && !allowed.includes(name)),
	].map((target) => `${file} imports ${target}`);
}

const layered = ['nodes', 'credentials', 'lab', 'emulator'].flatMap(filesBelow);

test('every folder has its rules, and every rule its folder', () => {
	expect(layered.length).toBeGreaterThan(100);
	expect([...new Set(layered.map(layerOf))].sort()).toStrictEqual(Object.keys(MAY_IMPORT).sort());
});

test.each(Object.keys(MAY_IMPORT))('%s imports only what it may', (layer) => {
	const files = layered.filter((file) => layerOf(file) === layer);
	expect(files.flatMap(violations)).toStrictEqual([]);
});

test('no two folders import each other, directly or through others', () => {
	const reachable = (from: string, seen = new Set<string>()): Set<string> => {
		for (const target of MAY_IMPORT[from] ?? []) {
			if (seen.has(target) || !(target in MAY_IMPORT)) continue;
			seen.add(target);
			reachable(target, seen);
		}
		return seen;
	};
	const circular = Object.keys(MAY_IMPORT).filter((folder) => reachable(folder).has(folder));
	expect(circular).toStrictEqual([]);
});

test('no two files import each other, directly or through others', () => {
	const imports = new Map(layered.map((file) => [file, importsOf(file).files]));
	/** The first way back to a file, if there is one. */
	const wayBack = (file: string) => {
		const ways = [[file]];
		const seen = new Set<string>();
		for (const way of ways) {
			for (const target of imports.get(way.at(-1)!) ?? []) {
				if (target === file) return [...way, file].join(' -> ');
				if (!seen.has(target)) ways.push([...way, target]);
				seen.add(target);
			}
		}
		return [];
	};
	expect(layered.flatMap(wayBack)).toStrictEqual([]);
});

test('what ships exports a name once, and has no other meaning for it at the top of a file', () => {
	const files = ['nodes', 'credentials'].flatMap(filesBelow);
	const declared = /^(export )?(?:async )?(?:function|class|interface|type|const) (\w+)/gm;
	// n8n wants the class of a node to be named as its file.
	const names = files.flatMap((file) =>
		file.endsWith('.node.ts')
			? []
			: [...read(file).matchAll(declared)].map(([, exported, name]) => ({ name, exported })),
	);
	expect(names.length).toBeGreaterThan(500);
	const exported = new Set(names.flatMap((each) => (each.exported ? [each.name!] : [])));
	const twice = [...exported].filter((name) => names.filter((each) => each.name === name)[1]);
	expect(twice).toStrictEqual([]);
});

test('every folder is used: something outside imports from it, or package.json names it', () => {
	const manifest = read('package.json');
	const folders = [...new Set(['nodes', 'lab', 'emulator'].flatMap(filesBelow).map(dirname))];
	const imported = SOURCES.flatMap(filesBelow).flatMap((file) =>
		importsOf(file)
			.files.map(dirname)
			.filter((folder) => folder !== dirname(file)),
	);
	const unused = folders.filter(
		(folder) => !imported.includes(folder) && !manifest.includes(`${folder}/`),
	);
	expect(unused).toStrictEqual([]);
});

test('the client uses no global of Node', () => {
	const globals = /(?<![.\w])(process|Buffer|setTimeout|setInterval|require|fetch)[.(]/;
	const found = filesBelow('nodes/client').filter((file) => globals.test(read(file)));
	expect(found).toStrictEqual([]);
});

/** Words of the host, in code and in comments: its name, its settings, its credential, its nodes, its addresses. */
const HOST_WORDS =
	/n8n|credential|\b(this|the|a|another) (sub-)?node\b|binary-data|\b(NODE|WEBHOOK)_[A-Z]|IExecuteFunctions|workflows? (again|runs|settings)/i;

test('the client has no word of n8n', () => {
	const found = filesBelow('nodes/client').flatMap((file) =>
		read(file)
			.split('\n')
			.filter((line) => HOST_WORDS.test(line))
			.map((line) => `${file}: ${line.trim()}`),
	);
	expect(found).toStrictEqual([]);
});

/**
 * Only nodes/shared/engine touches what n8n does not promise: fields that the type of its context does not declare, casts that
 * reach them, and names of its classes. Each export there says where it was read, and what happens without it.
 */
describe('the internals of n8n', () => {
	/** Fields of n8n, as names of properties, variables and keys. */
	const FIELDS = new Set([
		...['runExecutionData', 'nodeExecutionStack', 'waitingExecution', 'waitingExecutionSource'],
		...['runData', 'resultData', 'additionalData', 'resumeToken', 'parentExecution'],
		...['rootExecutionMode', 'retryOf', 'executionTimeoutTimestamp', 'getRunExecutionData'],
		...['contextData', 'connectionsBySourceNode', 'connectionsByDestinationNode'],
		...['credentialsDecrypted', 'subExecution', 'subExecutionsCount', '_streamResponseChunks'],
		...['getSecureEgressFilter', 'createSecureLookup', 'tokensUsageParser', 'getContext'],
	]);

	/** What n8n has as text. */
	const TEXTS =
		/SsrfBlocked|isArtificialRecoveredEventItem|\$rawParameter|^@tool$|fromAI-override|binary-data\/signed/;

	/** The properties of the helpers and of `Object` by which n8n is changed or bypassed. */
	const CALLS = /(^|\.)helpers\.request$|^Object\.(create|setPrototypeOf)$|^Reflect\.(get|set)$/;

	/** What a file touches of n8n that it must not, by the syntax tree. */
	function touched(file: string, text: string): string[] {
		const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
		const found: string[] = [];
		const report = (node: ts.Node) => {
			const { line } = source.getLineAndCharacterOfPosition(node.getStart());
			found.push(`${file}:${line + 1} ${node.getText().split('\n')[0]!.slice(0, 60)}`);
		};
		const visit = (node: ts.Node): void => {
			if (ts.isIdentifier(node) && FIELDS.has(node.text) && !isOwn(node)) report(node);
			if (
				ts.isStringLiteralLike(node) ||
				ts.isTemplateHead(node) ||
				ts.isTemplateMiddleOrTemplateTail(node)
			) {
				if (FIELDS.has(node.text) || TEXTS.test(node.text)) report(node);
			}
			if (ts.isPropertyAccessExpression(node) && CALLS.test(node.getText())) report(node);
			if (isDoubleCast(node) && /context|this/i.test(node.expression.getText())) report(node);
			ts.forEachChild(node, visit);
		};
		visit(source);
		return found;
	}

	/** A variable or parameter of ours may have the name of a field where it holds what the folder gives: `runDataOf`. */
	function isOwn(node: ts.Identifier): boolean {
		const { parent } = node;
		const isMember =
			(ts.isPropertyAccessExpression(parent) && parent.name === node) ||
			(ts.isBindingElement(parent) && (parent.propertyName ?? parent.name) === node) ||
			(ts.isPropertyAssignment(parent) && parent.name === node) ||
			ts.isPropertySignature(parent);
		return !isMember;
	}

	function isDoubleCast(node: ts.Node): node is ts.AsExpression {
		return (
			ts.isAsExpression(node) &&
			ts.isAsExpression(node.expression) &&
			node.expression.type.kind === ts.SyntaxKind.UnknownKeyword
		);
	}

	test('only the folder for n8n touches what n8n does not promise', () => {
		const touches = filesBelow('nodes').flatMap((file) => touched(file, read(file)));
		expect(touches.filter((touch) => touch.startsWith(ENGINE)).length).toBeGreaterThan(30);
		expect(touches.filter((touch) => !touch.startsWith(ENGINE))).toStrictEqual([]);
	});

	test('each export says where in n8n it was read, and what happens without it', () => {
		const silent = engineExports().filter(
			({ name, doc, read }) =>
				!(name in NEEDS_NOTHING) && (read === undefined || !doc.includes('* Without it')),
		);
		expect(silent).toStrictEqual([]);
	});
});
