import Ajv, { type ErrorObject, type ValidateFunction } from 'ajv';
import { dirname, resolve } from 'node:path';
import { isMap, LineCounter, parseDocument, type Document } from 'yaml';

import { validationMessage } from '../validationMessage';
import { kindsOf, type Script, type ScriptedReply } from './script';
import SCRIPT_SCHEMA from './script.schema.json';

type Path = readonly (string | number)[];

/** A problem of a script: where it is, and what. */
interface Problem {
	readonly path: Path;
	/** Name in the map at the path that the problem is about. */
	readonly name?: string;
	readonly message: string;
}

const ajv = new Ajv({ allErrors: true, allowUnionTypes: true, discriminator: true });
const BASE64 = /^(?:(?:[\w+/-]\s*){4})*(?:(?:[\w+/-]\s*){2}(?:==)?|(?:[\w+/-]\s*){3}=?)?\s*$/;
ajv.addFormat('base64', BASE64);
let isScript: ValidateFunction<Script> | undefined;

function problemOf(error: ErrorObject): Problem {
	const path = error.instancePath
		.split('/')
		.slice(1)
		.map((part) => (/^\d+$/.test(part) ? Number(part) : part));
	const { additionalProperty: name } = error.params as { additionalProperty?: string };
	return { path, ...(name !== undefined && { name }), message: validationMessage(error) };
}

function patternProblem(pattern: string | undefined): string | undefined {
	try {
		new RegExp(pattern ?? '', 'iu');
		return undefined;
	} catch (error) {
		return (error as Error).message;
	}
}

/** The rules of a reply that its schema cannot express. */
function replyProblems(reply: ScriptedReply, index: number): readonly Problem[] {
	const path = ['replies', index];
	const field = `replies[${index}]`;
	const kinds = kindsOf(reply);
	const invalid = patternProblem(reply.when?.pattern);
	const pattern = { path: [...path, 'when', 'pattern'], name: '' };
	const mixed = `${field} mixes kinds of answer: ${kinds.join(' and ')}`;
	const none = `${field} needs an answer, such as text, body, task or fault`;
	return [
		...(kinds.length === 1 ? [] : [{ path, message: kinds.length > 1 ? mixed : none }]),
		...(invalid === undefined
			? []
			: [{ ...pattern, message: `${field}.when.pattern: ${invalid}` }]),
	];
}

/** Offset of a problem in the text. */
function offsetOf(document: Document, { path, name }: Problem): number {
	const node = document.getIn(path, true) as { range?: readonly number[] } | undefined;
	const pair = isMap(node) && node.items.find(({ key }) => String(key) === name);
	const place = pair ? (pair.key as { range?: readonly number[] }) : node;
	return place?.range?.[0] ?? 0;
}

/** Of recorded answers to equal requests each is for one call, and the last also for those that follow. */
function numbered(replies: readonly ScriptedReply[]): readonly ScriptedReply[] {
	const keys = replies.map(({ when, request }) => request && JSON.stringify(when));
	const last = new Map(keys.map((key, index) => [key, index]));
	const calls = new Map<string, number>();
	return replies.map((reply, index) => {
		const key = keys[index];
		if (key === undefined || last.get(key) === index) return reply;
		const call = (calls.get(key) ?? 0) + 1;
		calls.set(key, call);
		return { ...reply, when: { ...reply.when, call } };
	});
}

/** A script, and the line where each of its replies begins. */
export interface ParsedScript extends Script {
	readonly file: string;
	readonly lines: readonly number[];
}

/**
 * Parses scripted answers: YAML, of which JSON is a part.
 * @param file path of the script, for messages and for the files that it names
 * @throws Error with one line per problem: `file:line:column: message`
 */
export function parseScript(text: string, file: string): ParsedScript {
	const lineCounter = new LineCounter();
	const document = parseDocument(text, { lineCounter, prettyErrors: false });
	const fail = (problems: readonly (readonly [offset: number, message: string])[]): never => {
		const lines = problems.map(([offset, message]) => {
			const { line, col } = lineCounter.linePos(offset);
			return `${file}:${line}:${col}: ${message}`;
		});
		throw new Error(lines.join('\n'));
	};
	if (document.errors.length > 0)
		fail(document.errors.map(({ pos: [offset], message }) => [offset, message]));

	const script: unknown = document.toJS();
	// With the first script: most emulators have none.
	isScript ??= ajv.compile<Script>(SCRIPT_SCHEMA);
	const problems = isScript(script)
		? script.replies.flatMap(replyProblems)
		: isScript.errors!.map(problemOf);
	if (problems.length > 0)
		fail(problems.map((problem) => [offsetOf(document, problem), problem.message]));

	const valid = script as Script;
	const replies = numbered(valid.replies).map((reply) =>
		reply.task?.file === undefined
			? reply
			: { ...reply, task: { ...reply.task, file: resolve(dirname(file), reply.task.file) } },
	);
	const lines = replies.map(
		(_reply, index) =>
			lineCounter.linePos(offsetOf(document, { path: ['replies', index], message: '' })).line,
	);
	return { ...valid, replies, file, lines };
}
