import { ServiceError, type AdviceCode } from '../errors';
import { asJson } from '../json';
import { isBlank, oneLine } from '../values';
import { findMedia, withReply } from './result';
import { readToolCalls } from './toolCalls';
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

/** What a reply is. */
export type Form = (typeof VERDICTS)[number]['form'];

const EVERY: readonly Taker[] = ['reply', 'assistant', 'agent', 'model'];
/** Who shows more of a reply than its text; a model is asked by agents that do not. */
const WITH_OUTPUT: readonly Taker[] = ['reply', 'assistant', 'agent'];

/** The verdicts: the first form that a reply has counts. For anyone who does not take the form the reply is an error. */
export const VERDICTS = [
	{
		form: 'failure',
		has: ({ end }: Facts) => end === 'failure',
		takenBy: [],
		message: 'The service reported an error during the reply',
	},
	{
		form: 'refusal',
		has: ({ refusal }: Facts) => !isBlank(refusal),
		takenBy: [],
		message: 'The model refused to answer',
	},
	{
		form: 'cut call',
		has: ({ asks, end }: Facts) => asks && end !== 'whole',
		takenBy: [],
		message: 'The reply was cut off in a tool call',
	},
	{ form: 'calls', has: ({ asks }: Facts) => asks, takenBy: EVERY, message: '' },
	{
		form: 'work',
		has: ({ says, hasRun }: Facts) => !says && hasRun,
		takenBy: WITH_OUTPUT,
		message: 'The service has run tools, but has not answered',
	},
	{
		form: 'nothing',
		has: ({ says }: Facts) => !says,
		takenBy: [],
		message: 'The model replied with neither an answer nor a tool call',
	},
	{
		form: 'cut',
		has: ({ end }: Facts) => end === 'length' || end === 'filter',
		takenBy: WITH_OUTPUT,
		message: 'The reply was cut off',
	},
	{ form: 'answer', has: () => true, takenBy: EVERY, message: '' },
] as const satisfies readonly {
	readonly form: string;
	readonly has: (facts: Facts) => boolean;
	readonly takenBy: readonly Taker[];
	readonly message: string;
}[];

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
	return verdictOf(reply, taker).form;
}

function verdictOf(reply: ChatCompletion, taker: Taker) {
	const { message, finish_reason: reason } = reply.choices[0]!;
	const calls = readToolCalls(message);
	const hasRun = calls.some(({ result }) => taker === 'assistant' || result !== undefined);
	const asks = taker !== 'assistant' && calls.some(({ result }) => result === undefined);
	const says = !isBlank(message.content) || findMedia(reply).length > 0;
	const end = endOf(reason);
	const facts = { end, refusal: message['refusal'], asks, hasRun, says };
	return { end, ...VERDICTS.find(({ has }) => has(facts))! };
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
	const { form, end, takenBy, message } = verdictOf(reply, taker);
	const isTaken = (takenBy as readonly Taker[]).includes(taker);
	if (isTaken || (mayBeEmpty && form === 'nothing' && end === 'whole'))
		return reply as JudgedReply;

	const { content, refusal } = choice.message;
	const isRefusal = form === 'refusal';
	const words = isRefusal ? String(refusal) : (content ?? '').trim();
	const reason = `the finish reason ${oneLine(String(choice.finish_reason ?? null))}` as const;
	const more = isRefusal ? `: ${oneLine(words)}` : form === 'cut' ? `, with ${reason}` : '';
	const error = new ServiceError(
		form === 'failure' ? 'stream' : 'protocol',
		`${message}${more}`,
		[`The reply ended with ${reason}`, isRefusal ? 'rephraseQuestion' : ADVICE[end]],
		{
			...(words === '' ? {} : { serviceMessage: words }),
			...(isRefusal ? { subject: { refusal: words } } : {}),
		},
	);
	throw withReply(error, asJson(reply));
}
