import { ServiceError, type AdviceCode } from '../errors';
import { asJson } from '../json';
import { isBlank, oneLine } from '../values';
import { findMedia, withoutThought, withReply } from './result';
import { splitCalls } from './toolCalls';
import { CALLS, endOf, type ChatCompletion, type End, type Taker } from './types';

type FormRow = readonly [has: (facts: ReturnType<typeof factsOf>) => boolean, error?: string];

/** The forms of replies: the first one that a reply has counts. Then the error that it is to those who do not take it. */
export const FORMS = {
	failure: [({ end }) => end === 'failure', 'The service reported an error during the reply'],
	refusal: [({ refusal }) => !isBlank(refusal), 'The model refused to answer'],
	'cut call': [
		({ asks, end, says, lacksCalls }) => (asks ? end !== 'whole' : says && lacksCalls),
		'The reply was cut off in a tool call',
	],
	calls: [({ asks }) => asks],
	work: [
		({ says, hasRun }) => !says && hasRun,
		'The service has run tools, but has not answered',
	],
	nothing: [({ says }) => !says, 'The model replied with neither an answer nor a tool call'],
	cut: [({ end }) => end === 'length' || end === 'filter', 'The reply was cut off'],
	answer: [() => true],
} as const satisfies Readonly<Record<string, FormRow>>;

/** What a reply is. */
export type Form = keyof typeof FORMS;

/** What can be done about a reply that is no answer, by its end. */
export const END_ADVICE: Readonly<Record<End, AdviceCode>> = {
	whole: 'askAgain',
	length: 'shortenReply',
	filter: 'rephraseQuestion',
	failure: 'tryLaterOrContact',
	unknown: 'askAgain',
};

/** A character that is neither white space nor without width. */
const VISIBLE = /[^\s\p{Cf}]/u;
/** A tool call in the words of open models, which their server has not read. */
const CALL_AS_TEXT = /^\s*(?:<tool_call>|<\|tool_call|<\uFF5Ctool\u2581call|\[TOOL_CALLS\])/;

/** What a verdict depends on. */
function factsOf(reply: ChatCompletion, taker: Taker) {
	const { message, finish_reason: reason } = reply.choices[0]!;
	const { asked, ran } = splitCalls(message, taker === 'assistant');
	const text = withoutThought(message.content ?? '');
	// An assistant has run them, whether it tells them or not.
	const isAnnounced = taker !== 'assistant' && CALLS.includes(String(reason).toLowerCase());
	const isText = (taker === 'agent' || taker === 'model') && CALL_AS_TEXT.test(text);
	const hasRun = ran.length > 0;
	return {
		end: endOf(reason),
		refusal: message['refusal'],
		hasRun,
		/** Whether there are tool calls that nobody has run. */
		asks: asked.length > 0,
		/** Whether some are missing. */
		lacksCalls: !hasRun && (isAnnounced || isText),
		/** Whether there is text that is no reasoning, or a file. */
		says: VISIBLE.test(text) || findMedia(reply).length > 0,
	};
}

/** What a reply is to its taker. */
export function formOf(reply: ChatCompletion, taker: Taker): Form {
	const facts = factsOf(reply, taker);
	return (Object.keys(FORMS) as Form[]).find((form) => FORMS[form][0](facts))!;
}

declare const judged: unique symbol;
/** A reply that `judge` has let through. Only such a one goes to an output, a memory or an agent. */
export type JudgedReply = ChatCompletion & { readonly [judged]: true };

/**
 * Judges a reply. Every reply passes through here.
 *
 * @param mayBeEmpty Whether nothing is an answer, as of a workflow that answers nothing on purpose.
 * @throws ServiceError for a reply that is not taken. `details.partial` has it, `details.serviceMessage` its
 *   words, `details.subject` its session and the words of a refusal.
 */
export function judge(reply: ChatCompletion, taker: Taker, mayBeEmpty = false): JudgedReply {
	const choice = reply.choices[0]!;
	const form = formOf(reply, taker);
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
