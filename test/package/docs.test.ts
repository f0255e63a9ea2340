/** The pages, and the examples that a person opens in n8n. */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';

import type { ExportedWorkflow } from '../../lab/n8n/workflow';
import {
	BEARER_CREDENTIAL,
	EXAMPLE_CREDENTIAL,
	exampleFiles,
	readExampleFile,
	SMTP_CREDENTIAL,
} from '../../lab/n8n/readExample';
import { ROOT } from '../../lab/paths';
import { GENERATED_PARTS, splitPage } from '../../scripts/generatedDocs';
import { EXAMPLE_RUNS } from '../e2e/support/exampleRuns';
import { ALL_FAILURES } from '../support/failureTexts';
import { anchorsOf, plain, read, sectionOf } from './pages';

const MAX_PICTURE_BYTES = 250_000;
const MAX_ANIMATION_BYTES = 2_000_000;

const FOLDERS = ['.', 'docs', 'examples', 'emulator', 'bench'];
const DOCUMENTS = FOLDERS.flatMap((folder) =>
	readdirSync(join(ROOT, folder))
		.filter((file) => file.endsWith('.md'))
		.map((file) => join(folder, file)),
);

test.each(GENERATED_PARTS)(
	'$page: the $content are up to date (npm run docs)',
	async ({ page, content, build }) => {
		const linesOf = (text: string) => text.split('\n').map(plain).filter(Boolean);
		const inPage = linesOf(splitPage(read(page), content).generated);
		const generated = linesOf(await build());
		// The first difference alone: a row may have thousands of characters.
		const at = generated.findIndex((line, index) => line !== inPage[index]);
		expect(inPage[at]).toBe(generated[at]);
		expect(inPage).toHaveLength(generated.length);
	},
);

test.each([...ALL_FAILURES])('docs/answers.md has an entry for "%s"', (message) => {
	expect(read('docs', 'answers.md')).toContain(`**${message}**`);
});

test.each(DOCUMENTS)('every link in %s leads to an existing file and heading', (document) => {
	const text = read(document);
	const broken = [...text.matchAll(/\]\((?!https?:)([^)#]*)(#[^)]+)?\)/g)]
		.map(([, path, heading]) => ({ path: path!, heading }))
		.filter(({ path, heading }) => {
			const file = path === '' ? document : join(dirname(document), path);
			if (!existsSync(join(ROOT, file))) return true;
			return heading !== undefined && !anchorsOf(read(file)).includes(heading.slice(1));
		});
	expect(broken).toStrictEqual([]);
});

test.each(['CONTRIBUTING.md', 'SECURITY.md', 'docs/maintaining.md', 'docs/architecture.md'])(
	'every file of the repository that %s names exists',
	(document) => {
		const named = [
			...read(document).matchAll(/`((?:nodes|test|emulator|lab|docker|bench)\/[\w./-]+)`/g),
		].map(([, path]) => path!);
		expect(named.length).toBeGreaterThan(0);
		expect(named.filter((path) => !existsSync(join(ROOT, path)))).toStrictEqual([]);
	},
);

test('SECURITY.md has threats with tests, to every asset, every boundary and every class of STRIDE', () => {
	const text = read('SECURITY.md');
	const ids = ['Assets', 'Trust boundaries and actors'].flatMap((heading) =>
		[...sectionOf(text, heading).matchAll(/^- \*\*([A-Z]\d)\*\*/gm)].map(([, id]) => id!),
	);
	expect(ids.length).toBeGreaterThan(5);
	const threat =
		/^.+\n\n([A-Z][A-Za-z ]+?), ([A-Z0-9, ]+)\. .+ \*\*Tests\*\*: [^\0]*`test\/[^`]+\.test\.ts`/;
	const threats = sectionOf(text, 'Threats').split(/^### /m).slice(1);
	expect(threats.filter((each) => !threat.test(each))).toStrictEqual([]);
	const parts = threats.map((each) => threat.exec(each)!);
	const concerned = parts.flatMap(([, , concerns]) => concerns!.split(', '));
	expect([...new Set(concerned)].sort()).toStrictEqual(ids.toSorted());
	expect([...new Set(parts.map(([, kind]) => kind))]).toStrictEqual([
		...['Spoofing', 'Tampering', 'Repudiation', 'Information disclosure'],
		...['Denial of service', 'Elevation of privilege'],
	]);
});

describe('docs/pictures', () => {
	const pictures = readdirSync(join(ROOT, 'docs/pictures'));

	test('every picture is shown on a page', () => {
		const pages = DOCUMENTS.map((document) => read(document)).join('\n');
		const unused = pictures.filter((picture) => !pages.includes(`pictures/${picture}"`));
		expect(unused).toStrictEqual([]);
	});

	test('every picture loads quickly', () => {
		const large = pictures.filter((picture) => {
			const { size } = statSync(join(ROOT, 'docs/pictures', picture));
			return size > (picture.endsWith('.gif') ? MAX_ANIMATION_BYTES : MAX_PICTURE_BYTES);
		});
		expect(large).toStrictEqual([]);
	});
});

describe('the examples', () => {
	const NOTE = 'n8n-nodes-base.stickyNote';
	let files: readonly string[];
	let examples: readonly ExportedWorkflow[];
	beforeAll(async () => {
		files = await exampleFiles();
		examples = await Promise.all(files.map(readExampleFile));
	});

	test('each is run by an end-to-end test, and linked to by its name', () => {
		expect(Object.keys(EXAMPLE_RUNS).sort()).toStrictEqual(files);
		const readme = read('examples', 'README.md');
		for (const [index, { name }] of examples.entries())
			expect(readme).toContain(`[${name}](${files[index]})`);
	});

	test('identifiers are unique, and pinned data are items, whose fields expressions read', () => {
		const nodes = examples.flatMap((example) => example.nodes);
		const ids = nodes.flatMap(({ id, webhookId = [] }) => [id, ...[webhookId].flat()]);
		expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toStrictEqual([]);
		const pinned = examples.flatMap(({ pinData = {} }) => Object.values(pinData).flat());
		for (const item of pinned) expect(Object.keys(item)).toStrictEqual(['json']);
	});

	test('the nodes use the credential name that n8n suggests first, without an ID', () => {
		const others: Readonly<Record<string, object>> = {
			'n8n-nodes-base.emailSend': { smtp: { id: '', name: SMTP_CREDENTIAL } },
			'@n8n/n8n-nodes-langchain.mcpTrigger': {
				httpBearerAuth: { id: '', name: BEARER_CREDENTIAL },
			},
		};
		for (const { type, name, credentials } of examples.flatMap(({ nodes }) => nodes)) {
			const wanted = type.startsWith('n8n-nodes-agent-video.')
				? { agentVideoApi: { id: '', name: EXAMPLE_CREDENTIAL } }
				: others[type];
			expect({ name, credentials }).toStrictEqual({ name, credentials: wanted });
		}
	});

	test('a note says first what the workflow does and how to try it', () => {
		for (const { nodes } of examples) {
			expect(nodes[0]!.type).toBe(NOTE);
			expect(nodes[0]!.parameters['content']).toMatch(/^## .*\*\*Try it:\*\*/s);
		}
	});

	test('a field that a note names is in the workflow, or on the page of a node', () => {
		const pages = ['chat-completion', 'super-assistant', 'agent-with-tools', 'create-video'];
		const texts = [...pages, 'wait-for-video'].map((page) => read('docs', `${page}.md`));
		const unknown = examples.flatMap(({ name, nodes }) => {
			const parametersOf = (isNote: boolean) =>
				nodes
					.filter(({ type }) => (type === NOTE) === isNote)
					.map(({ parameters }) => parameters);
			const workflow = JSON.stringify(parametersOf(false));
			return parametersOf(true)
				.flatMap(({ content }) => [
					...String(content).matchAll(/`([a-z]+(?:[_.][a-z]+)*)`/g),
				])
				.map(([, field]) => field!)
				.filter((field) => {
					const inWorkflow = new RegExp(`\\b${field.replaceAll('.', '\\.')}\\b`);
					const [first] = field.split('.');
					return (
						!inWorkflow.test(workflow) &&
						!texts.some((text) => text.includes(`\`${first}\``))
					);
				})
				.map((field) => `${name}: ${field}`);
		});
		expect(unknown).toStrictEqual([]);
	});
});
