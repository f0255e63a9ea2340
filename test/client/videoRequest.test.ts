import { VIDEO_FIELDS, type VideoField } from '../../nodes/client/video/fields';
import { VIDEO_MODELS, type VideoModel } from '../../nodes/client/video/models';
import { videoRequest } from '../../nodes/client/video/request';

test('what is entered goes out under the names of the specification (spec 2.8)', () => {
	const entered = { aspectRatio: '9:16', duration: '10', size: '1080P', mode: 'pro' };
	expect(videoRequest('video-m1', 'A lake', entered)).toStrictEqual({
		model: 'video-m1',
		prompt: 'A lake',
		aspect_ratio: '9:16',
		duration: 10,
		size: '1080P',
		mode: 'pro',
	});
});

test('what is left empty is not sent', () => {
	expect(videoRequest('video-m4', 'A lake', { duration: '0', size: ' ' })).toStrictEqual({
		model: 'video-m4',
		prompt: 'A lake',
	});
});

test.each([
	['', 'A lake', {}, 'Model is empty'],
	['video-m1', ' ', {}, 'Prompt is empty'],
	['video-m1', 'A lake', { duration: '5.5' }, 'Duration is 5.5'],
	['video-m1', 'A lake', { duration: 'long' }, 'Duration is long'],
	['video-m1', 'A lake', { duration: '-5' }, 'Duration is -5'],
])('model %j, prompt %j, fields %j: %s', (model, prompt, entered, message) => {
	expect(() => videoRequest(model, prompt, entered)).toThrow(message);
});

describe.each(VIDEO_MODELS.map((model): [string, VideoModel] => [model.code, model]))(
	'%s in the table of models (spec 2.11)',
	(_code, model) => {
		test.each(VIDEO_FIELDS.map((field): [string, VideoField] => [field.label, field]))(
			'%s: the default is one of the values, and none stands twice',
			(_label, field) => {
				const values = field.values(model);
				expect(new Set(values).size).toBe(values.length);
				if (values.length > 0) expect(values).toContain(field.defaultValue(model));
			},
		);
	},
);
