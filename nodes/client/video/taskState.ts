import { isJsonObject, type JsonObject, type JsonValue } from '../json';
import { isBlank } from '../values';

/** Response of a status poll (spec 2.10), within bounds. */
export interface TaskReport {
	readonly task_id: string;
	readonly status: string;
	readonly model?: string;
	/** When completed: long-lived URL of the file, on another host than the service. */
	readonly video_url?: string;
	readonly thumbnail_url?: string;
	readonly enhanced_prompt?: string;
	/** When failed. */
	readonly error_message?: string;
}

/** What a task does: its state, whatever the word for it. */
export type TaskState = 'completed' | 'failed' | 'unfinished';

// Services write it both ways. cspell:ignore cancelled
/** The status words of the specification (3.1), and those that other services of its kind have for the same. */
const WORDS: Readonly<Record<TaskState, string>> = {
	completed: 'completed complete succeeded succeed success successful done finished ready ok',
	failed: 'failed fail failure error errored expired canceled cancelled aborted rejected blocked timeout timedout terminated stopped deleted denied',
	unfinished:
		'init initialized queued processing unknown pending running inprogress queueing submitted created accepted waiting scheduled starting started preparing generating rendering uploading active',
};

const STATES = new Map(
	Object.entries(WORDS).flatMap(([state, words]) =>
		words.split(' ').map((word) => [word, state as TaskState]),
	),
);

/** What stands before or behind the word in names of constants, such as `TASK_STATUS_SUCCEEDED`. */
const AROUND = /(?:task|video|job|generation|status|state)/g;

/** The word of the table for a status in any case and spelling, such as `inprogress` for `In-Progress`; undefined if it has none. */
export function statusWord(status: string): string | undefined {
	const letters = status.toLowerCase().replace(/[^a-z]+/g, '');
	return [letters, letters.replace(AROUND, '')].find((word) => STATES.has(word));
}

/**
 * State of a task by its report. An unknown word with the URL of a video is completed. Without one it is unfinished: the
 * task may still complete, polling has a deadline anyway, and to stop early would lose a video that is paid for.
 */
export function taskState(report: Pick<TaskReport, 'status' | 'video_url'>): TaskState {
	const state = STATES.get(statusWord(report.status) ?? '');
	return state ?? (hasVideo(report) ? 'completed' : 'unfinished');
}

/** Whether a report has a URL from which the video can be downloaded. */
export function hasVideo({ video_url: url }: { readonly video_url?: unknown }): boolean {
	return typeof url === 'string' && /^\s*https?:\/\/[^\s/]/i.test(url);
}

/** Whether the URL of a video may still come: there is none, or only a text such as `pending`. Another kind of URL stays. */
export function mayGetVideo({ video_url: url }: { readonly video_url?: unknown }): boolean {
	return typeof url !== 'string' || !/^\s*(?:[a-z][a-z\d+.-]*:|\/\/)/i.test(url);
}

/** Fields that gateways wrap the answer of a service into. */
const WRAPPERS = ['data', 'result', 'output'] as const;
/** Wrappers within one another. */
const MAX_WRAPPERS = 3;

/**
 * An answer without its wrappers: what is in them takes the place of what a gateway says about itself, such as
 * `status: "success"` of the request.
 *
 * @param fields A wrapper has at least one of them.
 */
export function unwrapped(
	body: JsonObject,
	fields: readonly string[],
	levels = MAX_WRAPPERS,
): JsonObject {
	for (const name of WRAPPERS) {
		const { [name]: wrapper, ...around } = body;
		const inner = [wrapper].flat()[0];
		if (levels === 0 || !isJsonObject(inner)) continue;
		const content = unwrapped(inner, fields, levels - 1);
		if (!fields.some((field) => field in content)) continue;
		const given = Object.entries(content).filter(([, value]) => !isBlank(value));
		return unwrapped({ ...around, ...Object.fromEntries(given) }, fields, levels - 1);
	}
	return body;
}

/** Fields in which services say why a task failed, beside the one of the specification. */
const REASONS = [
	...['error', 'message', 'reason', 'fail_reason', 'failure_reason', 'failed_reason'],
	...['error_msg', 'err_msg', 'msg', 'detail', 'status_message'],
] as const;

/** Why a task failed, in the words of the service. */
export function reasonOf(report: TaskReport): string | undefined {
	const fields: Readonly<Record<string, JsonValue | undefined>> = { ...report };
	const own = textIn(fields['error_message']);
	const other = REASONS.map((name) => textIn(fields[name])).find((text) => text !== undefined);
	return own ?? (other === undefined ? undefined : `The service reports: ${other}`);
}

function textIn(value: JsonValue | undefined): string | undefined {
	const text = isJsonObject(value) ? value['message'] : value;
	return typeof text === 'string' && !isBlank(text) ? text : undefined;
}
