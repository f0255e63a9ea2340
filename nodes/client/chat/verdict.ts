import { ServiceError, type AdviceCode } from '../errors';
import { asJson } from '../json';
import { isBlank, oneLine } from '../values';
import { findMedia, withReply } from './result';
import { splitCalls } from './toolCalls';
import { endOf, type ChatCompletion, type End } from './types';

/** Who takes a reply. An assistant has run all tool calls of its reply itself (spec 2.7). */
export type Taker = 'reply' | 'assistant' | 'agent' | 'model';

/** What a verdict depends on. */
interface Facts {
	readonly end: End;
	readonly refusal: unknown;
	/** Whether there are tool calls that nobody has run, and whether there are some that the service has. */
	readonly asks: boolean;
	readonly hasRun: boolean;
	/** Whether there is text, or a file. */
	readonly says: boolean;
}

type FormRow = readonly [has: (facts: Facts) => boolean, error?: string];

/** The forms of replies: the first one that a reply has counts. Then the error that it is to those who do not take it. */
export const FORMS = {
	failure: [({ end }) => end === 'failure', 'The service reported an error during the reply'],
	refusal: [({ refusal }) => !isBlank(refusal), 'The model refused to answer'],
	'cut call': [
		({ asks, end }) => asks && end !== 'whole',
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
const ADVICE: Readonly<Record<End, AdviceCode>> = {
	whole: 'shortenConversation',
	length: 'shortenReply',
	filter: 'rephraseQuestion',
	failure: 'tryLaterOrContact',
	unknown: 'shortenConversation',
};

/** What a reply is to its taker. */
export function formOf(reply: ChatCompletion, taker: Taker): Form {
	const { message, finish_reason: reason } = reply.choices[0]!;
	const { asked, ran } = splitCalls(message, taker === 'assistant');
	const says = !isBlank(message.content) || findMedia(reply).length > 0;
	const calls = { asks: asked.length > 0, hasRun: ran.length > 0 };
	const facts = { end: endOf(reason), refusal: message['refusal'], ...calls, says };
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
		[`The reply ended with ${reason}`, isRefusal ? 'rephraseQuestion' : ADVICE[end]],
		{ serviceMessage: words, ...(isRefusal && { subject: { refusal: words } }) },
	);
	throw withReply(error, asJson(reply));
}
