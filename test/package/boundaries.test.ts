import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

import ts from 'typescript';

const ROOT = resolve(__dirname, '../..');

/** What each part of the shipped code may import: the arrow points one way. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
	client: ['client', 'eventsource-parser', 'ipaddr.js', '@cfworker/json-schema'],
	shared: ['shared', 'client', 'n8n-workflow', '@n8n/ai-node-sdk'],
	// Of the nodes' own folders each imports only itself.
	node: ['shared', 'client', 'n8n-workflow', '@n8n/ai-node-sdk'],
	credentials: ['n8n-workflow'],
};

function filesBelow(folder: string): string[] {
	return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
		.filter((file) => file.endsWith('.ts'))
		.map((file) => join(folder, file));
}

function partOf(file: string): string {
	const [top, second = ''] = file.split('/');
	if (top !== 'nodes') return top!;
	return second === 'client' || second === 'shared' ? second : 'node';
}

const ownFolder = (file: string) => file.split('/').slice(0, 2).join('/');

function importsOf(file: string): string[] {
	const source = readFileSync(join(ROOT, file), 'utf8');
	return ts.preProcessFile(source).importedFiles.flatMap(({ fileName }) => {
		if (!fileName.startsWith('.')) return fileName;
		const target = relative(ROOT, resolve(ROOT, dirname(file), fileName));
		const part = partOf(target);
		return part === 'node' && ownFolder(target) === ownFolder(file) ? [] : part;
	});
}

const shipped = [...filesBelow('nodes'), ...filesBelow('credentials')];

test('the shipped code is there to be looked at', () => {
	expect(shipped.length).toBeGreaterThan(20);
	expect(new Set(shipped.map(partOf))).toStrictEqual(new Set(Object.keys(MAY_IMPORT)));
});

test.each(shipped)('%s imports only what its part may', (file) => {
	expect(MAY_IMPORT[partOf(file)]).toEqual(expect.arrayContaining(importsOf(file)));
});

test.each(filesBelow('nodes/client'))('%s uses nothing of Node or n8n', (file) => {
	const source = readFileSync(join(ROOT, file), 'utf8');
	expect(source).not.toMatch(
		/(?<![.\w])(process|Buffer|setTimeout|setInterval|require|fetch)[.(]/,
	);
});
