import type { INodeExecutionData } from 'n8n-workflow';

import { userMessage } from '../client/chat/messages';
import { askAssistant } from '../client/chat/sendChat';
import type { ChatCompletion } from '../client/chat/types';
import { judge } from '../client/chat/verdict';
import { keyedMutex, readResult, settled, valueOf } from '../client/concurrency';
import { emptyText, isAbout, ServiceError } from '../client/errors';
import { oneLine, shown } from '../client/values';
import { askForReply, imageUrls } from '../shared/chat/askForReply';
import { mapChats, type SendText } from '../shared/chat/chatStream';
import { finishReply } from '../shared/chat/finishReply';
import { appField, optionalFields } from '../shared/chat/requestOptions';
import { toJsonFormat } from '../shared/chat/schemaForm';
import type { CallKind } from '../shared/durable/call';
import { clearCallLog } from '../shared/durable/callRun';
import { openPaidCalls } from '../shared/durable/paidCalls';
import { placeOfItem } from '../shared/engine/rest';
import type { Run } from '../shared/run/run';
import { assistantForm } from './properties';
import { openSession, readSession } from './sessionTable';

/**
 * Calls the assistant once per item. Items of the same session run one after another; with live streaming all items do,
 * so that their texts do not mix.
 */
export async function runSuperAssistant(run: Run): Promise<INodeExecutionData[][]> {
	const inTurn = keyedMutex();
	const items = [...run.items().keys()];
	const planned = items.map((item) => readResult(() => planCall(run, item)));
	const sent = planned.flatMap((each) => ('value' in each ? [each.value] : []));
	// A call may wait for another one of its session.
	const calls = sent.map(({ call }) => call);
	const opened = await settled(openPaidCalls(run.context, CALLS, calls, false));
	const work = async (item: number, sendText?: SendText) => {
		const paid = valueOf(opened);
		const plan = valueOf(planned[item]!);
		const send = async () => await ask(run, plan, sendText);
		const make = async () => (await paid.make(item, send))!;
		const key = plan.session.key ?? plan.session.id ?? '';
		const { result } = await inTurn(key, make);
		return await finishReply(run, judge(result, 'assistant'), 'assistant', {
			...plan,
			sendText,
		});
	};
	try {
		const onSuccess = () => {
			clearCallLog(run.context);
		};
		return await mapChats(run, work, onSuccess, {
			describeCompleted: ({ length }) => (length > 0 ? RETRY : ''),
			// A Retry does not ask again what has a reply, so it would never get past this item.
			goesOn: (item, error) =>
				isAbout('request', error) || ('value' in opened && opened.value.isKnown(item)),
		});
	} finally {
		if ('value' in opened) await opened.value.close();
	}
}

/** What a Retry costs where replies exist. */
const RETRY = 'Retry asks only what is missing, and pays only for that';

/** Calls of super assistants. They are kept in the call log alone. */
const CALLS: CallKind<ChatCompletion> = {
	field: 'Message',
	describe: ({ message }) => `the message "${oneLine(shown(message))}"`,
};

/**
 * What the form of an item says, with its call before it is sent, see `PlannedCall`. Nothing is read later.
 *
 * @throws The error of an expression, and InputError that names the field with an invalid value.
 */
export function planCall(run: Run, item: number) {
	const values = assistantForm.read(run, item);
	const { appCode, message, images, options } = values;
	const session = readSession(run, item, values);
	return {
		...values,
		session,
		format: toJsonFormat(values),
		call: {
			index: item,
			place: placeOfItem(run.context, item),
			// Not what is sent: the signed URLs of binary files differ on every run.
			entered: [appCode, message, session, images],
			retryOutcomeUnknown: options.retryOutcomeUnknown,
			row: { message: message.trim() },
		},
	};
}

/**
 * Sends the call of an item in its session, and there also the attempts to repair a reply in JSON.
 *
 * @throws InputError that names the field with an invalid value, and ServiceError as `askAssistant`.
 */
async function ask(
	run: Run,
	plan: ReturnType<typeof planCall>,
	sendText: SendText | undefined,
): Promise<ChatCompletion> {
	const { message, options } = plan;
	const app = appField(plan.appCode, run.service());
	const images = imageUrls(run, plan.call.index, plan.images);
	if (message.trim() === '' && images.length === 0) throw emptyText('Message');
	const session = await openSession(run, plan);
	let { id } = session;
	const events: unknown[] = [];
	const call: typeof askAssistant = async (http, { messages, ...rest }, ...more) => {
		const inSession = id === undefined ? {} : { session_id: id };
		// The assistant remembers the others.
		const question = { ...inSession, ...rest, messages: messages.slice(-1) };
		const reply = await askAssistant(http, question, ...more);
		id = reply.session_id ?? id;
		events.push(...[reply['events'] ?? []].flat());
		return reply;
	};
	// Without a session (spec 2.7).
	const request = {
		...app,
		messages: [userMessage(message, images)],
		...optionalFields(options),
	};
	// Never sent twice within one run, whatever the option says.
	const asking = { ...plan, options: { ...options, retryOutcomeUnknown: false }, sendText, call };
	const sent = askForReply(run, request, 'assistant', asking);
	const completion = await sent.catch(async (error: unknown) => {
		// Also when the reply broke off: the assistant remembers what it did in the session.
		const { subject } = error instanceof ServiceError ? error.details : {};
		await session.remember(subject?.['session_id']);
		throw error;
	});
	await session.remember(id);
	return events.length === 0 ? completion : { ...completion, events };
}
