import { startService, type TestService } from './support/service';

let service: TestService;
beforeAll(async () => {
	service = await startService();
});
afterAll(async () => {
	await service.stop();
});

const JSON_MODE = { response_format: { type: 'json_object' } };

/** The reply of an application in JSON mode. */
async function replyOf(app_code: string, content: string, more = {}): Promise<unknown> {
	const message = await service.say(content, { ...JSON_MODE, app_code, ...more });
	return JSON.parse(message.content ?? '');
}

const APPS = ['demo-app', 'demo-workflow', 'demo-assistant'];

it.each(APPS)('%s answers with the keys that the message lists', async (app) => {
	const reply = await replyOf(app, 'A lake at dawn, as JSON with the keys title and tags');
	expect(Object.keys(reply as object)).toEqual(['title', 'tags']);
});

const REVIEW = 'I love this camera, it is great';

it.each<[string, object]>([
	[
		`As JSON with keys sentiment (positive, neutral or negative) and title: "${REVIEW}"`,
		{ sentiment: 'positive' },
	],
	[
		`As JSON like {"sentiment": "negative|neutral|positive"}. Review: ${REVIEW}`,
		{ sentiment: 'positive' },
	],
	[
		`As JSON. Review: ${REVIEW}\n{"type":"object","properties":{"mood":{"enum":["negative","positive"]}}}`,
		{ mood: 'positive' },
	],
	[
		`My parcel has not arrived.

Answer with JSON only. The JSON must match this JSON Schema:
{"type":"object","properties":{"label":{"type":"string","enum":["billing","shipping","other"]}}}`,
		{ label: 'shipping' },
	],
])('a value with a list of labels is one of them: %s', async (question, values) => {
	const { content } = await service.say(question, JSON_MODE);
	expect(JSON.parse(content ?? '')).toMatchObject(values);
});
