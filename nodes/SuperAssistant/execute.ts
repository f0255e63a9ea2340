import type { INodeExecutionData } from 'n8n-workflow';

import { userMessage } from '../client/chat/messages';
import { askAssistant, readJsonReply } from '../client/chat/sendChat';
import { idText } from '../client/chat/toolCalls';
import type { ChatCompletion } from '../client/chat/types';
import { judge } from '../client/chat/verdict';
import { keyedMutex, readResult, settled, valueOf } from '../client/concurrency';
import { emptyText, isAbout, rejectMistakes, ServiceError } from '../client/errors';
import { oneLine, shown } from '../client/values';
import { askForReply, imageUrls } from '../shared/chat/askForReply';
import { mapChats, type SendText } from '../shared/chat/chatStream';
import { finishReply } from '../shared/chat/finishReply';
import { chatOf, chatRows, isOfVisitor, enteredKey, rejectUndeclared } from '../shared/chat/memory';
import { imagesField, replyFields, replyOptions } from '../shared/chat/properties';
import {
	appField,
	assistantRequestFields,
	callFields,
	optionalFields,
} from '../shared/chat/requestOptions';
import { batchingFields, safeRetryFields } from '../shared/form/callOptions';
import { formatFields, toJsonFormat } from '../shared/chat/schemaForm';
import type { CallKind } from '../shared/durable/call';
import { clearCallLog } from '../shared/durable/callRun';
import { openPaidCalls } from '../shared/durable/paidCalls';
import type { TableSchema } from '../shared/engine/dataTable';
import { placeOfItem } from '../shared/engine/rest';
import { choice, filledByModel, form, options, prompt, text } from '../shared/form/form';
import { ofRetry } from '../shared/run/nodeErrors';
import { checkKey, checkNotRounded } from '../shared/run/parameters';
import type { Run } from '../shared/run/run';

/** The form of Super Assistant. It has no model and no tools: the assistant chooses them itself (spec 2.1, 2.7). */
export const assistantForm = form({
	appCode: text('App Code', {
		placeholder: 'e.g. demo-assistant',
		help: 'Code of the super assistant; empty if the API key ends with it',
	}),
	message: filledByModel(
		prompt('Message', {
			typeOptions: { rows: 4 },
			default: '={{ $json.chatInput }}',
			placeholder: 'e.g. Look up the weather in Rome and make a short video of it',
			help: 'The task for the assistant. A Chat Trigger provides it as chatInput.',
		}),
		{ key: 'message', help: 'The complete task, with all information it needs' },
	),
	session: choice('Session', {
		noDataExpression: true,
		choices: [
			['This Chat', 'chat', 'Continue the session of the Chat Trigger, or start one'],
			['New', 'new', 'Start without any memory of earlier calls'],
			['By ID', 'id', 'Continue a session whose ID you have'],
			['Remembered per Key', 'key', 'Continue the session of a key, e.g. of a customer'],
		],
		default: 'chat',
		help: 'Which session the assistant uses',
	}),
	sessionId: text('Session ID', {
		default: '={{ $json.session_id }}',
		placeholder: 'e.g. session-0001',
		help: 'The session_id of an earlier call',
		displayOptions: { show: { session: ['id'] } },
	}),
	sessionKey: text('Key', {
		default: '={{ $json.sessionId }}',
		placeholder: 'e.g. customer-42',
		help: 'Identifies the session in all workflows of the project. The sessionId of a chat is no such key: its visitor chooses it, so it is kept for chats of this workflow.',
		hint: 'Sessions are stored in the data table agent_video_sessions of the project',
		displayOptions: { show: { session: ['key'] } },
	}),
	...formatFields,
	images: imagesField,
	...replyFields,
	options: options({
		...replyOptions,
		...assistantRequestFields,
		...batchingFields,
		...safeRetryFields,
		...callFields,
	}),
});

/**
 * Calls the assistant once per item. Items of the same session run one after another; with live streaming all items do,
 * so that their texts do not mix.
 */
export async function runSuperAssistant(run: Run): Promise<INodeExecutionData[][]> {
	const inTurn = keyedMutex();
	const items = [...run.items().keys()];
	const planned = items.map((item) => readResult(() => planCall(run, item)));
	const calls = planned.flatMap((each) => ('value' in each ? [each.value.call] : []));
	const check = (reply: ChatCompletion, item: number) => {
		const { format } = valueOf(planned[item]!);
		readJsonReply(judge(reply, 'assistant'), format, 'assistant');
	};
	const kind = { ...ASSISTANT_CALLS, check };
	const opened = await settled(openPaidCalls(run, kind, calls, false));
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
			clearCallLog(run);
		};
		return await mapChats(run, work, onSuccess, {
			describeCompleted: ({ length }) => (length > 0 ? ofRetry(run, RETRY) : ''),
			// A Retry does not ask again what has a reply, so it would never get past this item.
			goesOn: (item, error) =>
				isAbout('request', error) || ('value' in opened && opened.value.isKnown(item)),
			sends: (item) => 'value' in opened && opened.value.sends(item),
		});
	} finally {
		if ('value' in opened) await opened.value.close();
	}
}

/** What a Retry costs where replies exist. */
const RETRY = 'Retry asks only what is missing, and pays only for that';

/** Calls of super assistants. They are kept in the call log alone. */
const ASSISTANT_CALLS: CallKind<ChatCompletion> = {
	field: 'Message',
	describe: ({ message }) => `the message "${oneLine(shown(message))}"`,
};

/**
 * What the form of an item says, with its call before it is sent, see `PlannedCall`. Nothing is read later.
 *
 * @throws The error of an expression, and InputError that names the field with an invalid value.
 */
function planCall(run: Run, item: number) {
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
		// One that is too long is none.
		id = idText(reply.session_id) || id;
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

/** The sessions of a project; users can view them and delete rows. */
export const SESSION_TABLE = {
	name: 'agent_video_sessions',
	columns: {
		app_code: 'string',
		session_key: 'string',
		session_id: 'string',
		account: 'string',
		saved_at: 'date',
	},
} as const satisfies TableSchema;

const UNUSABLE =
	'Otherwise set Session to By ID and store the session_id of the output yourself, or set it to New';
const EMPTY = 'Enter a value, or set Session to New';
const EMPTY_ID = `${EMPTY}. To get the session_id of another node of this package, set Output to Detailed there`;

const OF_VISITOR =
	'Set Session to This Chat: by an ID, a visitor could continue the session of another one';

const doNothing: (sessionId?: string) => Promise<void> = async () => undefined;

/**
 * The session that the fields of an item ask for (spec 2.7): one with an ID, the one of an identity, see `enteredKey`, or a new
 * one.
 *
 * @throws InputError when its ID or key is empty or says nothing.
 */
function readSession(
	run: Run,
	item: number,
	{ session, sessionId, sessionKey }: Record<'session' | 'sessionId' | 'sessionKey', string>,
): { readonly id?: string; readonly key?: string } {
	if (session === 'key')
		return { key: enteredKey(run, item, sessionKey, ['Key', EMPTY, 'sessionKey']) };
	// This Chat without a chat is a new session.
	const chat = session === 'chat' ? chatOf(run, item) : '';
	if (session !== 'id') return chat === '' ? {} : { key: chat };
	const id = sessionId.trim();
	rejectMistakes('Session ID', [
		[id === '', 'is empty', EMPTY_ID],
		[isOfVisitor(run, id), 'was sent by the visitor of the chat', OF_VISITOR],
	]);
	checkKey(id, 'Session ID');
	rejectUndeclared(run, 'Session ID', id);
	checkNotRounded(run.context, item, 'sessionId', 'Session ID');
	return { id };
}

/**
 * Opens the session of an item. After the calls, call its `remember`.
 *
 * A key has one session per account and assistant, that of its newest row: of first messages at the same moment, each opens
 * a session, and the one that is stored last stays.
 *
 * Sessions are rows of an n8n data table, in n8n's database: they survive executions and restarts, are shared by all
 * workers, and work in the editor's test chat. Workflow static data cannot do this: n8n saves it as a whole at the end
 * of an execution, so that parallel chats overwrite each other's session, and never saves it in a manual execution.
 *
 * @returns The service's `session_id`, none for a new session; and `remember`, which stores the ID of the session that the
 *   service used, if any, where later executions need it. It never rejects.
 * @throws InputError when the table of the sessions cannot be used.
 */
async function openSession(
	run: Run,
	{ appCode, session }: { appCode: string; session: ReturnType<typeof readSession> },
) {
	if (session.key === undefined) return { id: session.id, remember: doNothing };

	const { account } = run.service();
	const owner = { app_code: appCode.trim(), session_key: session.key, account };
	const rows = chatRows(run, SESSION_TABLE, owner, ['Session', UNUSABLE]);
	const [newest] = await rows.newest(1);
	// A person may have cleared it.
	const stored = String(newest?.['session_id'] ?? '');
	return {
		id: stored === '' ? undefined : stored,
		async remember(sessionId = '') {
			if (sessionId === '' || sessionId === stored) return;
			await rows.insert({ session_id: sessionId }, Number(newest?.['id'] ?? 0) + 1);
		},
	};
}
