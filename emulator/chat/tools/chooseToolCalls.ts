import { wordsOf } from '../generation/dictionary';
import { extractKeywords } from '../generation/words';
import type { Tool } from '../requestSchema';
import { extractEntities, splitList } from './entities';
import { fillSchema } from './fillSchema';
import { isIdentifierName } from './fillString';
import { parametersOf, resolveSchema, schemaType } from './schema';

/** Tool call before it gets an identifier. */
export interface ChosenToolCall {
	readonly name: string;
	readonly arguments: Readonly<Record<string, unknown>>;
}

/** A tool, and the part of the message that matches it. */
interface ToolMatch {
	readonly tool: Tool;
	readonly text: string;
}

/** A keyword of a description is enough; one of a parameter is not. */
const MIN_SCORE = 2;

/** Keywords of a tool declaration, with their scores by the place. */
function vocabulary(tool: Tool): ReadonlyMap<string, number> {
	const { name, description = '' } = tool.function;
	const { properties } = parametersOf(tool);
	const weighted = (text: string, weight: number) =>
		extractKeywords(text).map((word): [string, number] => [word, weight]);
	return new Map([
		...weighted(Object.keys(properties).join(' '), 1),
		...weighted(description, 2),
		...weighted(name, 3),
	]);
}

function score(tool: Tool, text: string): number {
	const words = vocabulary(tool);
	return [...new Set(extractKeywords(text))].reduce(
		(sum, word) => sum + (words.get(word) ?? 0),
		0,
	);
}

/** Whether a tool requires an identifier and the text has none. */
const lacksIdentifier = (tool: Tool, text: string): boolean =>
	parametersOf(tool).required.some(isIdentifierName) && !/\d/.test(text);

/** Tool with the highest score; undefined if no tool reaches the minimum. */
function bestTool(tools: readonly Tool[], text: string): Tool | undefined {
	const [best] = tools
		.map((tool) => ({ tool, points: score(tool, text), lacks: lacksIdentifier(tool, text) }))
		.sort((a, b) => b.points - a.points || Number(a.lacks) - Number(b.lacks));
	return best && best.points >= MIN_SCORE ? best.tool : undefined;
}

/** Whether the first required parameter is a string, so that several values need several calls. */
function takesSingleValue(tool: Tool): boolean {
	const { properties, required } = parametersOf(tool);
	const [first] = required.map((name) =>
		resolveSchema(properties[name], tool.function.parameters),
	);
	return first !== undefined && schemaType(first) === 'string' && !first.enum;
}

const MAX_WORDS_PER_LIST_ITEM = 4;

/** Whether a part is short enough to be a list item: `Rome` in `the weather in Paris and Rome`. */
const isListItem = (piece: string): boolean =>
	piece.split(/\s+/).flatMap(wordsOf).length <= MAX_WORDS_PER_LIST_ITEM &&
	!/^(?:please|thanks)\b|^请|^谢/i.test(piece);

/** Whether a part has keywords that are not in the tool declaration. */
function hasSubject({ tool, text }: ToolMatch): boolean {
	const words = vocabulary(tool);
	return extractKeywords(text).some((word) => !words.has(word));
}

/** Tools requested in one sentence: one for each part that names a tool or another value. */
function matchesIn(sentence: string, tools: readonly Tool[]): readonly ToolMatch[] {
	const parts = splitList(sentence);
	const first = parts.map((text) => bestTool(tools, text)).find(Boolean);
	return parts.reduce<readonly ToolMatch[]>((matches, text) => {
		const previous = matches.at(-1);
		const named = bestTool(tools, text);
		const isValue = (match: ToolMatch) => takesSingleValue(match.tool) && hasSubject(match);
		if (!previous) {
			// In Chinese, what a tool is named by comes after its values.
			const begun = first && /\p{Script=Han}/u.test(text) && { tool: named ?? first, text };
			if (begun && isValue(begun)) return [begun];
			return named ? [{ tool: named, text }] : matches;
		}
		if (named && named !== previous.tool) return [...matches, { tool: named, text }];

		const next = { tool: previous.tool, text };
		const isNext = isValue(previous) && hasSubject(next);
		if (isNext && (named ?? isListItem(text))) return [...matches, next];
		// Otherwise the part belongs to the previous match.
		return [...matches.slice(0, -1), { ...previous, text: `${previous.text} and ${text}` }];
	}, []);
}

const MAX_CALLS = 16;

/** A call with arguments that satisfy the JSON schema of the tool, from a text where possible. */
function toCall({ tool, text }: ToolMatch, nowMs: number): ChosenToolCall {
	const { name, parameters = {} } = tool.function;
	const entities = extractEntities(text, nowMs, vocabulary(tool));
	const schema = { ...resolveSchema(parameters, parameters), type: 'object' };
	const filled = fillSchema(schema, name, { entities, root: parameters });
	return { name, arguments: filled as ChosenToolCall['arguments'] };
}

/** Instructions about the format of the answer, not for a tool: `…, answer in JSON`. */
const ANSWER_ORDER =
	/[,;.]?\s*\b(?:and )?(?:please )?(?:answer|reply|respond)\b[^.?!]*[.?!]*$|[，,]?请?(?:用|以)\s*JSON.*$/i;

/** State of the tool loop, and the request's `tool_choice`. */
export interface ToolChoiceOptions {
	/** Number of completed rounds of tool calls; each `then` in the message adds a round. */
	readonly round: number;
	/** Whether at least one tool must be called (spec 2.1 `tool_choice`). */
	readonly required: boolean;
	/** Milliseconds since 1970. */
	readonly nowMs: number;
}

/** Chooses the tool calls of a round by keyword matching; empty if no tool matches (spec 2.3, 4). */
export function chooseToolCalls(
	text: string,
	tools: readonly Tool[],
	{ round, required, nowMs }: ToolChoiceOptions,
): readonly ChosenToolCall[] {
	const rounds = text
		.replace(ANSWER_ORDER, '')
		.split(
			/[,;.]?\s*\b(?:and then|then|after that|afterwards|finally)\b|[，；。]?(?:然后|接着|最后|之后再)/i,
		)
		.map((sentence) => matchesIn(sentence, tools))
		.filter((matches) => matches.length > 0);
	const matches = rounds[round] ?? [];
	if (matches.length > 0) return matches.slice(0, MAX_CALLS).map((match) => toCall(match, nowMs));

	const [tool] = [...tools].sort((a, b) => score(b, text) - score(a, text));
	return required && round === 0 && tool ? [toCall({ tool, text }, nowMs)] : [];
}
