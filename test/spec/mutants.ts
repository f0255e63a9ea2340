/** A change of the package that breaks statements of the specification: the proofs that they name have to fail with it. */
export interface Mutant {
	/** The ids of the statements, see `statements.ts`. */
	readonly breaks: readonly string[];
	/** Path from the root of the checkout. */
	readonly file: string;
	/** Occurs once in the file. */
	readonly from: string;
	readonly to: string;
}

const row = (breaks: string, file: string, from: string, to: string): Mutant => ({
	breaks: breaks.split(' '),
	file: `nodes/${file}.ts`,
	from,
	to,
});

const UNFINISHED = "return state ?? (hasVideo(report) ? 'completed' : 'unfinished');";
const failsAt = (status: string) =>
	`if (report.status === '${status}') return 'failed';\n\t${UNFINISHED}`;

/** In the order of the statements. `npm run mutate` tries each by itself. */
export const MUTANTS: readonly Mutant[] = [
	row('2.1.7 2.7.5', 'SuperAssistant/execute', '		...app,', "		...app,\n		model: 'chat-m2',"),
	row('2.1.22', 'client/chat/completeChat', 'usage !== null ?', 'true ?'),
	row('2.1.25', 'shared/chat/requestOptions', 'MAX_STOP_WORDS = 4', 'MAX_STOP_WORDS = 5'),
	row('2.1.31', 'client/chat/jsonReply', '/json/i.test(', '/./.test('),
	row(
		'2.2.6',
		'client/chat/toolCalls',
		'isBlank(content) ? null : content',
		"isBlank(content) ? '' : content",
	),
	row('2.4.7 2.3.4', 'client/chat/result', '		tool_calls: ifAny(asked),\n', ''),
	row('2.4.6', 'client/chat/result', '		reasoning_content: message.reasoning_content,\n', ''),
	row('2.4.10 2.4.11 2.4.12', 'client/chat/result', '		usage: usageOf(body),\n', ''),
	row('2.4.22', 'client/chat/result', "		tool_results: message['tool_results'],\n", ''),
	row(
		'2.5.5',
		'client/chat/accumulator',
		"message.content = (message.content ?? '') + text",
		'message.content = text',
	),
	row(
		'2.5.6',
		'client/chat/accumulator',
		"message.reasoning_content = (message.reasoning_content ?? '') + reasoning",
		'message.reasoning_content = reasoning',
	),
	row('2.6.1 2.6.2 2.6.3', 'client/chat/result', "'knowledge_base', ", ''),
	row('2.6.4', 'client/chat/result', "		...fieldsOf(body, ['suggested_questions']),\n", ''),
	row('2.6.5 2.6.6 2.6.7', 'client/chat/result', "'agent', ", ''),
	row('2.7.1', 'SuperAssistant/execute', 'messages.slice(-1)', '[...messages, ...messages]'),
	row('2.7.6', 'client/chat/sendChat', 'SERVICE_LIMIT_MS = 600_000', 'SERVICE_LIMIT_MS = 60_000'),
	row(
		'2.7.12',
		'client/chat/accumulator',
		"if (type === 'tool_calls'",
		"if (type === 'tools_called'",
	),
	row(
		'2.9.3',
		'client/video/tasks',
		'created_at: createdAt }',
		'created_at: createdAt, model: request.model }',
	),
	row('2.9.4', 'client/video/tasks', "body['created_at'] ?? undefined", "body['created_at']"),
	row('2.10.2', 'shared/wait/deliver', "if (taskId !== '') return taskId;", 'return taskId;'),
	row('3.1.1', 'client/video/taskState', UNFINISHED, failsAt('init')),
	row('3.1.2', 'client/video/taskState', UNFINISHED, failsAt('queued')),
	row('3.1.3', 'client/video/taskState', UNFINISHED, failsAt('processing')),
	row('3.1.6', 'client/video/taskState', UNFINISHED, failsAt('unknown')),
	row('3.1.11', 'client/video/poll/task', 'MIN_INTERVAL_MS = 5_000', 'MIN_INTERVAL_MS = 4_000'),
	row('3.1.13', 'shared/wait/poll', 'maximumWait * 60_000', 'maximumWait * 6_000'),
	row('7.1.5', 'client/http/failures', '	406: row(', '	418: row('),
	row('7.1.10', 'client/http/failures', "'slowDown', PASSES)", "'slowDown')"),
];
