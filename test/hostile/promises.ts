/** A change of the package that breaks a promise of SECURITY.md: the test, which its threat names, has to fail with it. */
export interface BrokenPromise {
	/** What is promised no longer. */
	readonly promise: string;
	/** Path from the root of the checkout. */
	readonly file: string;
	/** Occurs once in the file. */
	readonly from: string;
	readonly to: string;
	/** Path of a test from `test/`, and of a slow one the titles that are run. */
	readonly test: string;
	readonly titles: string;
}

type Row = readonly [
	promise: string,
	file: string,
	from: string,
	to: string,
	test: string,
	titles?: string,
];

/** By the heading of the threat. `npm run mutate -- promises` tries each by itself. */
const ROWS: Readonly<Record<string, readonly Row[]>> = {
	'A redirect takes the key, or the body, to another host': [
		[
			'No call follows a redirect',
			'nodes/shared/run/host.ts',
			'disableFollowRedirect: true',
			'disableFollowRedirect: false',
			'nodes/redirects',
		],
		[
			'The error names the host',
			'nodes/client/http/request.ts',
			'isRedirect ? location : text',
			'text',
			'nodes/redirects',
		],
	],
	'Another server answers at the Base URL': [
		[
			'Only http and https',
			'nodes/client/http/publicUrl.ts',
			"!['http:', 'https:'].includes(url.protocol)",
			'url.protocol === "javascript:"',
			'client/baseUrl',
		],
		[
			'No user name',
			'nodes/client/http/publicUrl.ts',
			'[username, password,',
			'[password,',
			'client/baseUrl',
		],
		[
			'No query',
			'nodes/client/http/publicUrl.ts',
			'password, search, hash].some',
			'password, hash].some',
			'client/baseUrl',
		],
		[
			'A response that is not the service’s is an error',
			'nodes/client/http/request.ts',
			"if (!text.trimStart().startsWith('{')) throw unexpectedResponse(text);",
			'',
			'faults/matrix',
			'HTML',
		],
	],
	'One account continues the session of another, or writes to its tasks': [
		[
			'Sessions count for the account',
			'nodes/SuperAssistant/sessionTable.ts',
			'session_key: session.key, account }',
			"session_key: session.key, account: '' }",
			'nodes/accounts',
		],
		[
			'Keys count for the account',
			'nodes/shared/ledger/reserveKeys.ts',
			'earlier !== undefined && !isOwn(outcome as Row, account)',
			'earlier !== undefined && account === ""',
			'nodes/accounts',
		],
		[
			'Tasks count for the account',
			'nodes/shared/run/credential.ts',
			"return [account, '', null, undefined].includes(owner as string | null);",
			'return [account, owner].includes(owner as string);',
			'nodes/accounts',
		],
		[
			'The key of the account counts',
			'nodes/shared/run/credential.ts',
			'JSON.stringify([key, ...sent.sort()])',
			'JSON.stringify(sent.sort())',
			'nodes/accounts',
		],
	],
	'A visitor continues the session or memory of somebody else': [
		[
			'The sessionId never opens a key',
			'nodes/shared/chat/identity.ts',
			'if (chatIds(context, item).includes(key)) return chatIdentity(context, key);',
			'',
			'hostile/visitor',
		],
		[
			'It counts for chats of its workflow',
			'nodes/shared/chat/identity.ts',
			'`${chatPrefix(context)}${nameOf(id)}`',
			'`chat ${nameOf(id)}`',
			'nodes/memory',
		],
		[
			'Odd values are hashes',
			'nodes/shared/chat/identity.ts',
			'PLAIN.test(value) ? value :',
			"value !== '' ? value :",
			'hostile/visitor',
		],
		[
			'By ID takes no ID of the visitor',
			'nodes/SuperAssistant/sessionTable.ts',
			'[isOfVisitor(context, id),',
			"[id === 'none',",
			'hostile/visitor',
		],
	],
	'A web page signs in to the demo, or uses the emulator': [
		[
			'Only your account can read its file',
			'lab/demo/keptDemo.ts',
			'mode: 0o600',
			'mode: 0o644',
			'package/keptDemo',
		],
		[
			'The password is random',
			'lab/n8n/owner.ts',
			"randomBytes(9).toString('base64url')",
			"'lighthouse-1'",
			'package/demoAccount',
		],
		[
			'The emulator rejects a foreign Host',
			'emulator/addHostCheck.ts',
			'LOOPBACK = /^(',
			'LOOPBACK = /^(.*|',
			'emulator/hosts',
		],
	],
	'Keys and IDs such as `__proto__` or `constructor` change objects': [
		[
			'Also with escaped letters',
			'nodes/client/json.ts',
			" || text.includes('\\\\u00')",
			'',
			'client/limits',
		],
		[
			'Values from outside are looked up in maps',
			'nodes/shared/wait/poll.ts',
			'known.get(id) ??',
			'(Object.fromEntries(known)[id] as TaskPoll | undefined) ??',
			'nodes/waitForVideoAnswers',
			'names that every object has',
		],
		[
			'__proto__ is dropped',
			'nodes/client/json.ts',
			"delete list['__proto__'];",
			'',
			'client/limits',
		],
	],
	'Two versions of a file are joined in one': [
		[
			'A broken download begins again',
			'nodes/shared/files/download.ts',
			"headers: { 'Accept-Encoding': 'identity' }",
			"headers: { 'Accept-Encoding': 'identity', ...(!isFirst && { Range: 'bytes=10-' }) }",
			'nodes/downloadRetries',
		],
		[
			'A part of a file is an error',
			'nodes/shared/files/download.ts',
			'status === 206 ? isWholeRange(headers) : ',
			'',
			'nodes/downloadRetries',
		],
		[
			'A video whose container says that something is missing is no file',
			'nodes/shared/files/inspectFile.ts',
			'if (isWhole === false ||',
			'if (',
			'hostile/fileHost',
			'half of the file|truncated gzip|Content-Length',
		],
		[
			'Only a verified file closes its row',
			'nodes/shared/wait/deliver.ts',
			'isHere && !isUnverified &&',
			'isHere &&',
			'nodes/wholeVideos',
		],
	],
	'A page or a program comes in place of a video': [
		[
			'Of a video the first bytes must be known',
			'nodes/shared/files/judgeFile.ts',
			"kind === 'video' || FILE_TYPES",
			'FILE_TYPES',
			'nodes/downloadTypes',
		],
		[
			'A file of another kind is an error',
			'nodes/shared/files/judgeFile.ts',
			'return real.startsWith(`${kind}/`) ? real : undefined;',
			'return real;',
			'nodes/downloadTypes',
		],
	],
	'The name of a file leaves its folder, or hides its extension': [
		[
			'No separators and control characters',
			'nodes/shared/files/judgeFile.ts',
			".replace(/[/\\\\:*?\"<>|\\u0000-\\u001f]+/g, '-')",
			'',
			'hostile/fileHost',
			'in the name',
		],
		[
			'No bidirectional characters',
			'nodes/shared/files/judgeFile.ts',
			'\\p{Bidi_Control}',
			'',
			'hostile/fileHost',
			'in the name',
		],
		[
			'At most 120 characters',
			'nodes/shared/files/judgeFile.ts',
			'MAX_NAME_LENGTH = 120',
			'MAX_NAME_LENGTH = 1200',
			'hostile/fileHost',
			'in the name',
		],
	],
	'A model adds arguments that a tool does not declare': [
		[
			'Tools take no other arguments',
			'nodes/shared/chat/schemaForm.ts',
			'		additionalProperties: false,\n',
			'',
			'nodes/functionCallingAgentArguments',
		],
	],
	'Text of an item changes the header or the path of a request': [
		[
			'Paths are fixed',
			'nodes/client/video/tasks.ts',
			'await postVideo(http, path, { task_id: taskId }',
			'await postVideo(http, `${path}?id=${taskId}`, { task_id: taskId }',
			'nodes/hostileFields',
		],
	],
	'A paid request is sent twice, and nobody knows which': [
		[
			'What may have been processed is not sent again',
			'nodes/client/http/retry.ts',
			'failure.details.outcomeUnknown !== true || retryOutcomeUnknown',
			'true',
			'nodes/retries',
		],
		[
			'Also after a crash',
			'nodes/shared/ledger/recall.ts',
			'known.set(item, outcomeOf(call, isRetry));',
			'void outcomeOf(call, isRetry);',
			'nodes/createVideoTwice',
		],
	],
	'A service or proxy quotes the headers of the request': [
		[
			'Masked in texts of a reply',
			'nodes/client/http/request.ts',
			"return maskIn(body, secrets, errorIn(body) ? undefined : 'body');",
			'return body;',
			'nodes/keyMasking',
		],
		[
			'Masked in an error',
			'nodes/client/http/request.ts',
			'secrets.mask(isRedirect ? location : text)',
			'(isRedirect ? location : text)',
			'nodes/keyMasking',
		],
		[
			'In base64 and hexadecimal',
			'nodes/client/http/secrets.ts',
			'[spelled, ...coded]',
			'[spelled]',
			'nodes/keyMasking',
		],
		[
			'URL-encoded',
			'nodes/client/http/secrets.ts',
			'`%(?:25){0,2}${anyCase}`',
			'`%%(?:25){0,2}${anyCase}`',
			'nodes/keyMasking',
		],
		[
			'Split over the events of a stream',
			'nodes/client/chat/completeChat.ts',
			'all.length - secrets.tailOf(all)',
			'all.length',
			'nodes/keyMasking',
		],
		[
			'With a secret in an ID the item fails',
			'nodes/client/http/secrets.ts',
			'field === undefined || TEXTS.test(field)',
			'true',
			'nodes/extraHeaders',
		],
		[
			'It says which one it was',
			'nodes/client/http/secrets.ts',
			'`[masked: ${name}]`',
			"'***'",
			'nodes/keyMasking',
		],
	],
	'The error of a chat shows a visitor the words of the service': [
		[
			'No details in an item that a chat may show',
			'nodes/shared/run/mapItems.ts',
			'	return failure;\n}',
			'	return { ...failure, details: errorFacts(cause) };\n}',
			'hostile/visitor',
		],
	],
	"A file host or another node's URL gets the key or a header": [
		[
			'Files are downloaded without the credential',
			'nodes/shared/files/download.ts',
			'.httpRequest({',
			".httpRequestWithAuthentication.call(context, 'agentVideoApi', {",
			'nodes/waitForVideoDownload',
		],
		[
			'Extra headers are not part of what n8n adds',
			'credentials/AgentVideoApi.credentials.ts',
			'{ ...request.headers, Authorization',
			"{ ...request.headers, 'X-Tenant': 'all', Authorization",
			'nodes/extraHeaders',
		],
	],
	'The key or a header is in an item, a log or a saved execution': [
		[
			'No error contains headers',
			'nodes/client/http/request.ts',
			'		...retryAfter(headers),',
			'		...retryAfter(headers),\n		serviceType: JSON.stringify(http),',
			'faults/matrix',
			'Chat Completion.*(401|503)|(401|503).*Chat Completion',
		],
	],
	'A file that nobody has named is sent to the service': [
		[
			'Only binary fields of the item',
			'nodes/shared/files/signedFileUrl.ts',
			'if (Object.hasOwn(binary, property)) return binary[property]!;',
			'return (binary[property] ?? property) as never;',
			'hostile/visitor',
		],
		[
			'No file reference in JSON',
			'nodes/shared/files/signedFileUrl.ts',
			"if (typeof name === 'string') return name.trim();",
			"return typeof name === 'string' ? name.trim() : (name as string);",
			'nodes/createVideoReferences',
		],
		[
			'For one hour',
			'nodes/shared/files/signedFileUrl.ts',
			"EXPIRES_IN = '1h'",
			"EXPIRES_IN = '1d'",
			'nodes/createVideoReferences',
		],
	],
	'An image in a reply tells its host what the chat has': [
		[
			'Images become links',
			'nodes/client/chat/imagesAsLinks.ts',
			"return url !== undefined && (url === 'data:' || isKnown(url)) ? image : '';",
			'return image;',
			'client/imagesAsLinks',
		],
		[
			'An entity in a host ends its name',
			'nodes/client/chat/imagesAsLinks.ts',
			'(?![^/?#]{0,4000}&)',
			'',
			'client/imagesAsLinks',
		],
		[
			'As a tag',
			'nodes/client/chat/imagesAsLinks.ts',
			"return source === undefined ? image.replace('<', '&lt;') : `[image](<${source}>)`;",
			'return image;',
			'client/imagesAsLinks',
		],
		[
			'Split over events',
			'nodes/client/chat/imagesAsLinks.ts',
			"BEGUN.exec(held.slice(-MAX_HELD))?.[0] ?? ''",
			"''",
			'client/imagesAsLinks',
		],
		[
			'Those of File Hosts stay',
			'nodes/client/http/publicUrl.ts',
			'hostname.endsWith(name.slice(1))',
			'hostname.endsWith(name.slice(2))',
			'client/imagesAsLinks',
		],
	],
	'Text from outside is evaluated as an expression': [
		[
			'It is data',
			'nodes/shared/ledger/dataTable.ts',
			"if (typeof value !== 'string' || !value.startsWith('=')) return value;",
			'if (value) return value;',
			'nodes/createVideoIdentity',
		],
	],
	'A text makes the reader take quadratic time': [
		[
			'Readers work in linear time',
			'nodes/client/http/request.ts',
			'/<[^<>]*>/g',
			'/<[^>]*>/g',
			'hostile/growth',
			'excerpt',
		],
		[
			'Tokens are estimated by length',
			'nodes/AgentVideoChatModel/execute.ts',
			"texts.join('').length / 4",
			"texts.join('').length / 400",
			'nodes/chatModelTokens',
		],
	],
	'A response is endless, huge, or compressed to a fraction': [
		[
			'At most 32 MB for a body',
			'nodes/client/http/request.ts',
			'MAX_BODY_BYTES = 32 ',
			'MAX_BODY_BYTES = 3200 ',
			'client/limits',
		],
		[
			'8 MB for an event',
			'nodes/client/chat/sseDecoder.ts',
			'MAX_EVENT_CHARACTERS = 8 ',
			'MAX_EVENT_CHARACTERS = 800 ',
			'client/limits',
		],
		[
			'128 MB for a stream',
			'nodes/client/chat/sseDecoder.ts',
			'MAX_STREAM_BYTES = 128 ',
			'MAX_STREAM_BYTES = 12800 ',
			'client/limits',
		],
		[
			'Every call has a timeout',
			'nodes/shared/wait/poll.ts',
			'QUERY_TIMEOUT_MS = 60_000',
			'QUERY_TIMEOUT_MS = 6e9',
			'faults/matrix',
			'endless slow response: Wait for Video',
		],
	],
	'Huge texts or deep JSON are kept, and the execution cannot be opened': [
		[
			'An ID above its bound is left out',
			'nodes/client/video/tasks.ts',
			' || taskId.length > MAX_ID',
			'',
			'nodes/videoBounds',
		],
		[
			'Deep JSON is cut',
			'nodes/client/json.ts',
			'MAX_DEPTH = 200',
			'MAX_DEPTH = 2_000_000',
			'client/outsideTexts',
		],
		[
			'Every kept text has a bound',
			'nodes/client/json.ts',
			'text: 10_000, total: 50_000',
			'text: 1e9, total: 1e9',
			'nodes/videoBounds',
		],
		[
			'A status has a bound',
			'nodes/client/video/tasks.ts',
			'MAX_STATUS = 100',
			'MAX_STATUS = 1e9',
			'nodes/videoBounds',
		],
		[
			'A paid answer that cannot be read leaves the outcome unknown',
			'nodes/client/http/request.ts',
			'retryable: true, outcomeUnknown: true }',
			'retryable: true }',
			'faults/matrix',
			'truncated JSON: Create Video',
		],
	],
	'A visitor fills the data tables': [
		[
			'A call with a key fails before it is paid',
			'nodes/shared/ledger/paidCalls.ts',
			'if (replaces.length > 0 && !isStored)',
			'if (replaces.length > 0 && item < 0)',
			'nodes/createVideoLedger',
		],
		[
			'A row has the first 2,000 characters',
			'nodes/SuperAssistant/execute.ts',
			'shorten(message.trim(), MAX_STORED_MESSAGE)',
			'message.trim()',
			'nodes/superAssistantCalls',
		],
	],
	'A download has no end, or fills the disk': [
		[
			'Only what can help is repeated',
			'nodes/client/http/retry.ts',
			'const isRetryable = failure.details.retryable === true;',
			'const isRetryable = failure.kind !== "canceled";',
			'hostile/fileHost',
			'a page as a video|redirect to itself|Content-Length above',
		],
		[
			'500 MB for a file',
			'nodes/shared/files/downloadLimits.ts',
			'default: 500,',
			'default: 5_000_000,',
			'nodes/downloadBounds',
		],
		[
			'A limit for a run',
			'nodes/shared/files/downloadLimits.ts',
			'if (total > maxTotalBytes)',
			'if (total > 1e15)',
			'nodes/downloadBounds',
		],
		[
			'20 files for a reply',
			'nodes/shared/chat/replyMedia.ts',
			'MAX_FILES = 20',
			'MAX_FILES = 2000',
			'nodes/downloadBounds',
		],
		[
			'15 minutes for a file',
			'nodes/shared/files/download.ts',
			'MAX_MINUTES = 15',
			'MAX_MINUTES = 15000',
			'nodes/downloadBounds',
		],
	],
	'An agent calls tools without end': [
		[
			'A limit on requests in one execution',
			'nodes/shared/chat/requestOptions.ts',
			'if (sent >= limit) throw',
			'if (sent < 0) throw',
			'nodes/maximumRequests',
		],
		[
			'A limit on rounds',
			'nodes/client/chat/conversation.ts',
			"if (rounds >= limits.maxRounds) return 'max_rounds';",
			'',
			'nodes/functionCallingAgent',
		],
		[
			'A limit on tool calls',
			'nodes/client/chat/conversation.ts',
			'limits.maxCalls',
			'limits.maxCalls + 1e9',
			'nodes/functionCallingAgent',
		],
		[
			'A limit on repeated calls',
			'nodes/client/chat/conversation.ts',
			'limits.maxRepeats',
			'limits.maxRepeats + 1e9',
			'nodes/functionCallingAgent',
		],
	],
	'A link of a model, or a redirect, makes n8n open a private address': [
		[
			'Each host is judged by all its addresses',
			'nodes/shared/files/download.ts',
			'if (isPrivate || addresses.some(isPrivateAddress)) {',
			'if (isPrivate) {',
			'nodes/downloadAddresses',
		],
		[
			'Each host on the way',
			'nodes/shared/files/download.ts',
			'disableFollowRedirect: true,',
			'disableFollowRedirect: false,',
			'nodes/downloadAddresses',
		],
		[
			'At most ten redirects',
			'nodes/shared/files/download.ts',
			'MAX_REDIRECTS = 10',
			'MAX_REDIRECTS = 1000',
			'hostile/fileHost',
			'redirect',
		],
		[
			'A link in a text may be private on the service’s own host only',
			'nodes/shared/files/download.ts',
			'isKnown(at) || (isPrivate && !isFromModel)',
			'isKnown(at) || isPrivate',
			'nodes/downloadAddresses',
		],
		[
			'The judged address is the one that is opened',
			'nodes/shared/files/download.ts',
			"if (resolve === undefined || new URL(url).protocol === 'https:') return {};",
			'if (addresses.length >= 0) return {};',
			'nodes/downloadAddresses',
		],
	],
	'A private address is opened although n8n forbids it': [
		[
			'n8n’s rules apply',
			'nodes/shared/run/host.ts',
			"if (!name.startsWith('SsrfBlocked')) continue;",
			'if (name) continue;',
			'nodes/addressRules',
		],
	],
	'A reference URL makes the service open a private address': [
		[
			'Reference URLs must be public',
			'nodes/client/http/publicUrl.ts',
			'isValid && !allowPrivate',
			'isValid && allowPrivate',
			'client/publicUrl',
		],
	],
	'A dependency or a step of the build changes the package': [
		[
			'Actions are pinned',
			'.github/workflows/ci.yml',
			'    name: npm run test:all\n    runs-on: ubuntu-latest\n    timeout-minutes: 60\n    steps:\n      - uses: actions/checkout@',
			'    name: npm run test:all\n    runs-on: ubuntu-latest\n    timeout-minutes: 60\n    steps:\n      - uses: actions/checkout@v4 # ',
			'package/workflows',
			'pins every action',
		],
		[
			'The publishing job builds nothing',
			'.github/workflows/publish.yml',
			'npm publish --ignore-scripts',
			'npm publish',
			'package/workflows',
			'the job that may publish',
		],
		[
			'The client imports nothing from outside',
			'nodes/client/json.ts',
			'export type JsonValue =',
			"import 'node:os';\nexport type JsonValue =",
			'package/boundaries',
			'imports only what it may',
		],
	],
};

/** The promises of each threat, by its heading in SECURITY.md. */
export const PROMISES: Readonly<Record<string, readonly BrokenPromise[]>> = Object.fromEntries(
	Object.entries(ROWS).map(([threat, rows]) => [
		threat,
		rows.map(([promise, file, from, to, test, titles = '']) => {
			return { promise, file, from, to, test, titles };
		}),
	]),
);
