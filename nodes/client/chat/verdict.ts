import { ServiceError, type AdviceCode } from '../errors';
import { asJson, parseJsonObject } from '../json';
import { isBlank, oneLine } from '../values';
import { findMedia, withReply } from './result';
import { withoutThought } from './replyMessage';
import { splitCalls } from './toolCalls';
import { CALLS, endOf, type ChatCompletion, type End, type Taker, type ToolCall } from './types';

type FormRow = readonly [has: (facts: ReturnType<typeof factsOf>) => boolean, error?: string];

/** The forms of replies: the first one that a reply has counts. Then the error that it is to those who do not take it. */
export const FORMS = {
	failure: [({ end }) => end === 'failure', 'The service reported an error during the reply'],
	refusal: [({ refusal }) => !isBlank(refusal), 'The model refused to answer'],
	'cut call': [
		({ asks, isWhole, says, lacksCalls }) => (asks ? !isWhole : says && lacksCalls),
		'The reply was cut off in a tool call',
	],
	'written call': [
		({ asks, isWritten }) => !asks && isWritten,
		'The model has written a tool call as text, which its server has not read',
	],
	calls: [({ asks }) => asks],
	work: [
		({ says, hasRun }) => !says && hasRun,
		'The service has run tools, but has not answered',
	],
	nothing: [({ says }) => !says, 'The model replied with neither an answer nor a tool call'],
	cut: [({ end }) => end !== 'whole', 'The reply was cut off'],
	answer: [() => true],
} as const satisfies Readonly<Record<string, FormRow>>;

/** What a reply is. */
export type Form = keyof typeof FORMS;

/** What can be done about a reply that is no answer, by its end. */
export const END_ADVICE: Readonly<Record<End, AdviceCode>> = {
	whole: 'askAgain',
	length: 'shortenReply',
	filter: 'rephraseQuestion',
	failure: 'tryLater',
	unknown: 'askAgain',
};

/** A character that is neither white space nor without width. */
const VISIBLE = /[^\s\p{Cf}]/u;
/** How open models begin a tool call, and what follows directly. Prose about it goes on with a word. */
const CALL_MARK =
	/(?:<(?:\w{1,20}:)?(?:tool|function)_calls?>|<[|\uFF5C](?:DSML|tool[_\u2581]calls?)[^<>]{0,50}>|<function=[^<>]{1,100}>|<\|python_tag\|>|\[TOOL_CALLS\])\s*(?:[[{<]|[\w.:-]+(?:\s*[[{<]|\())|(?:<\|channel\|>)?(?:commentary |analysis )?to=functions\.\w/;
/** The end of a call, with nothing behind it. */
const CALL_END = /[\]})>]\s*$/;

/** What a verdict depends on. */
function factsOf(reply: ChatCompletion, taker: Taker, hasTools: boolean) {
	const { message, finish_reason: reason } = reply.choices[0]!;
	const { asked, ran } = splitCalls(message, taker === 'assistant');
	const text = withoutThought(message.content ?? '');
	// An assistant has run them, whether it tells them or not.
	const isAnnounced = taker !== 'assistant' && CALLS.test(String(reason).toLowerCase());
	const mark = hasTools ? CALL_MARK.exec(text) : null;
	const isFirst = mark?.index === text.search(/\S/);
	const hasRun = ran.length > 0;
	const end = endOf(reason);
	const isObject = ({ function: called }: ToolCall) =>
		parseJsonObject(called.arguments) !== undefined;
	return {
		end,
		/** Whether the calls are: then it counts for nothing that nobody lists the finish reason. */
		isWhole: end === 'whole' || (end === 'unknown' && asked.every(isObject)),
		/** Whether it is a call that is written as text. */
		isWritten: mark !== null && (isFirst || CALL_END.test(text)),
		refusal: message['refusal'],
		hasRun,
		/** Whether there are tool calls that nobody has run. */
		asks: asked.length > 0,
		/** Whether some are missing. */
		lacksCalls: !hasRun && isAnnounced,
		/** Whether there is text that is no reasoning, or a file. */
		says: VISIBLE.test(text) || findMedia(reply).length > 0,
	};
}

/** What a reply is to its taker. Only to one that has declared tools text can be a call. */
export function formOf(reply: ChatCompletion, taker: Taker, hasTools = isAgent(taker)): Form {
	const facts = factsOf(reply, taker, hasTools);
	return (Object.keys(FORMS) as Form[]).find((form) => FORMS[form][0](facts))!;
}

const isAgent = (taker: Taker) => taker === 'agent' || taker === 'model';

declare const judged: unique symbol;
/** A reply that `judge` has let through. Only such a one goes to an output, a memory or an agent. */
export type JudgedReply = ChatCompletion & { readonly [judged]: true };

/**
 * Judges a reply. Every reply passes through here.
 *
 * @param mayBeEmpty Whether an empty reply is an answer, as of a workflow that answers nothing on purpose.
 * @param hasTools Whether tools were declared. Default: to agents and their models.
 * @throws ServiceError for a reply that is not taken. `details.partial` has it, `details.serviceMessage` its
 *   words, `details.subject` its session and the words of a refusal.
 */
export function judge(
	reply: ChatCompletion,
	taker: Taker,
	mayBeEmpty = false,
	hasTools?: boolean,
): JudgedReply {
	const choice = reply.choices[0]!;
	const form = formOf(reply, taker, hasTools);
	const end = endOf(choice.finish_reason);
	// A model is asked by agents, which show nothing of a reply but its text.
	const isTaken = (form === 'work' || form === 'cut') && taker !== 'model';
	const isEmpty = mayBeEmpty && form === 'nothing' && end === 'whole';
	if (form === 'calls' || form === 'answer' || isTaken || isEmpty) return reply as JudgedReply;

	const { content, refusal } = choice.message;
	const isRefusal = form === 'refusal';
	const words = isRefusal ? String(refusal) : (content ?? '').trim();
	const reason = `the finish reason ${oneLine(String(choice.finish_reason ?? null))}` as const;
	const more = isRefusal ? `: ${oneLine(words)}` : form === 'cut' ? `, with ${reason}` : '';
	const error = new ServiceError(
		form === 'failure' ? 'stream' : 'protocol',
		`${FORMS[form][1]}${more}`,
		[`The reply ended with ${reason}`, isRefusal ? 'rephraseQuestion' : END_ADVICE[end]],
		{ serviceMessage: words, ...(isRefusal && { subject: { refusal: words } }) },
	);
	throw withReply(error, asJson(reply));
}
