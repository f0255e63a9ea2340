import { STATUSES, statusError, TRANSPORT_ERRORS } from '../../nodes/client/http/failures';

const chat = (status?: number) => statusError('chat', status).message;
const video = (status: number) => statusError('video', status).message;
const transport = (code: string) =>
	TRANSPORT_ERRORS.find(([pattern]) => pattern.test(code))![1].message;

/** What a failure is called, from the tables of the client. */
export const FAILURE = {
	badKey: chat(401),
	badParameter: video(400),
	canceled: transport('ERR_CANCELED'),
	insecure: transport('EPROTO'),
	lost: transport('ECONNRESET'),
	malformed: chat(400),
	moderated: chat(409),
	appNotOpen: chat(403),
	noAccess: statusError('model', 403).message,
	noApp: chat(402),
	noCredit: chat(406),
	noModel: video(402),
	noName: transport('ENOTFOUND'),
	notPaid: statusError('model', 402).message,
	noStatus: chat(),
	notFound: chat(404),
	proxy: chat(502),
	redirect: chat(302),
	refused: transport('ECONNREFUSED'),
	silent: transport('ETIMEDOUT'),
	tooMany: chat(429),
	unavailable: chat(503),
} as const;

/** Each text of the tables once, with those of statuses that no table has. */
export const ALL_FAILURES = new Set(
	[
		...Object.values(STATUSES).flatMap((rows) => Object.values(rows)),
		...[404, 418, 500].map((status) => statusError('chat', status)),
		...TRANSPORT_ERRORS.map(([, failure]) => failure),
	].map(({ message }) => message),
);

/** What an error of a sub-workflow says of Retry. */
export const OF_CALLED =
	'Retry this sub-execution: a Retry of the workflow that calls it pays for all again';
