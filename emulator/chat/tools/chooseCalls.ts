import { wordsOf } from '../brain/wordsOf';
import type { Tool } from '../requestSchema';
import { evidenceIn, listed } from './evidence';
import { fillSchema } from './fillSchema';
import { isCode } from './fillText';
import { resolveSchema, typeOf } from './schema';

/** A tool to call with these arguments. */
export interface ChosenCall {
	readonly name: string;
	readonly arguments: Readonly<Record<string, unknown>>;
}

interface Pick {
	readonly tool: Tool;
	readonly text: string;
}

/** What a word of the message is worth, by where the tool has it. */
const NAME_WEIGHT = 3;
const DESCRIPTION_WEIGHT = 2;
const PARAMETER_WEIGHT = 1;
const ENOUGH = 2;

/** The words that a tool is known by, and what each is worth. */
function vocabulary({
	function: { name, description = '', parameters },
}: Tool): ReadonlyMap<string, number> {
	const { properties = {} } = resolveSchema(parameters, parameters);
	const worth = (text: string, weight: number) =>
		wordsOf(text).map((word): [string, number] => [word, weight]);
	return new Map([
		...worth(Object.keys(properties).join(' '), PARAMETER_WEIGHT),
		...worth(description, DESCRIPTION_WEIGHT),
		...worth(name, NAME_WEIGHT),
	]);
}

function score(tool: Tool, text: string): number {
	const words = vocabulary(tool);
	return [...new Set(wordsOf(text))].reduce((sum, word) => sum + (words.get(word) ?? 0), 0);
}

/** Whether a tool demands an identifier that the text does not give. */
function lacksCode({ function: { parameters } }: Tool, text: string): boolean {
	const { properties = {}, required = Object.keys(properties) } = resolveSchema(
		parameters,
		parameters,
	);
	return required.some(isCode) && !/\d/.test(text);
}

/** The tool that fits a text best; undefined when none fits. */
function bestTool(tools: readonly Tool[], text: string): Tool | undefined {
	const [best] = tools
		.map((tool) => ({ tool, points: score(tool, text), lacks: lacksCode(tool, text) }))
		.sort((a, b) => b.points - a.points || Number(a.lacks) - Number(b.lacks));
	return best && best.points >= ENOUGH ? best.tool : undefined;
}

/** Whether a tool takes one thing as a text, so that several things need several calls. */
function takesOneThing({ function: { parameters } }: Tool): boolean {
	const { properties = {}, required = Object.keys(properties) } = resolveSchema(
		parameters,
		parameters,
	);
	const [first] = required.map((name) => resolveSchema(properties[name], parameters));
	return first !== undefined && typeOf(first) === 'string' && !first.enum;
}

const MOST_WORDS_OF_A_THING = 4;

/** Whether a piece may be one more thing of a list: `Rome` in `the weather in Paris and Rome`. */
const isOneMore = (piece: string): boolean =>
	piece.split(/\s+/).length <= MOST_WORDS_OF_A_THING && !/^(?:please|thanks)\b/i.test(piece);

/** Whether a piece says something that is not just the tool's own words. */
function hasSubject({ tool, text }: Pick): boolean {
	const words = vocabulary(tool);
	return wordsOf(text).some((word) => !words.has(word));
}

/** The calls that one sentence asks for: a tool for each piece that names one. */
function picksIn(sentence: string, tools: readonly Tool[]): readonly Pick[] {
	return listed(sentence).reduce<readonly Pick[]>((picks, text) => {
		const previous = picks.at(-1);
		const named = bestTool(tools, text);
		if (!previous) return named ? [{ tool: named, text }] : picks;
		if (named && named !== previous.tool) return [...picks, { tool: named, text }];

		const next = { tool: previous.tool, text };
		const isNext = takesOneThing(next.tool) && hasSubject(previous) && hasSubject(next);
		if (isNext && (named ?? isOneMore(text))) return [...picks, next];
		// The piece adds to what was said before it.
		return [...picks.slice(0, -1), { ...previous, text: `${previous.text} and ${text}` }];
	}, []);
}

const MOST_CALLS = 16;
/** A schema may nest lists in lists; past so many values it gets null. */
const MOST_VALUES = 500;

function toCall({ tool, text }: Pick, nowMs: number): ChosenCall {
	const { name, parameters = {} } = tool.function;
	const filling = {
		evidence: evidenceIn(text, nowMs),
		root: parameters,
		depth: 0,
		budget: { left: MOST_VALUES },
	};
	const values = fillSchema({ ...parameters, type: 'object' }, name, filling);
	return { name, arguments: values as ChosenCall['arguments'] };
}

/** How to answer is no matter for a tool: `…, answer in JSON`. */
const ANSWER_ORDER = /[,;.]?\s*\b(?:and )?(?:please )?(?:answer|reply|respond)\b[^.?!]*[.?!]*$/i;

export interface ChooseOptions {
	/** How many rounds of calls this question has already had: `… then …` gives one more each. */
	readonly round: number;
	/** Whether at least one call has to be made (spec 2.1 `tool_choice`). */
	readonly required: boolean;
	/** Milliseconds since 1970. */
	readonly nowMs: number;
}

/** Which tools the model calls for a message, in this round; none when none fits (spec 2.3, 4). */
export function chooseCalls(
	text: string,
	tools: readonly Tool[],
	{ round, required, nowMs }: ChooseOptions,
): readonly ChosenCall[] {
	const rounds = text
		.replace(ANSWER_ORDER, '')
		.split(/[,;.]?\s*\b(?:and then|then|after that|afterwards|finally)\b/i)
		.map((sentence) => picksIn(sentence, tools))
		.filter((picks) => picks.length > 0);
	const picks = rounds[round] ?? [];
	if (picks.length > 0) return picks.slice(0, MOST_CALLS).map((pick) => toCall(pick, nowMs));

	const [tool] = [...tools].sort((a, b) => score(b, text) - score(a, text));
	return required && round === 0 && tool ? [toCall({ tool, text }, nowMs)] : [];
}
