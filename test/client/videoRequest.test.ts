import {
	defaultOf,
	VIDEO_FIELDS,
	VIDEO_MODELS,
	type ReferenceKind,
	type VideoField,
	type VideoModel,
} from '../../nodes/client/video/models';
import { videoRequest, type EnteredVideo } from '../../nodes/client/video/videoRequest';

const references = (counts: Partial<Record<ReferenceKind, number>>) =>
	(Object.entries(counts) as [ReferenceKind, number][]).flatMap(([kind, count]) =>
		Array.from({ length: count }, (_, index) => ({
			kind,
			url: `https://example.com/${kind}${index + 1}`,
		})),
	);
const urls = (kind: ReferenceKind, count: number) =>
	references({ [kind]: count }).map(({ url }) => url);

function plan(more: Partial<EnteredVideo>) {
	const entered = { model: 'video-m1', prompt: 'A lake', fields: {}, references: [] };
	return videoRequest({ ...entered, ...more });
}

test('the request has the entered values under the field names of the specification (spec 2.8)', () => {
	const fields = {
		aspectRatio: '9:16',
		duration: '10',
		size: '1080P',
		imageMode: 'reference',
		generateAudio: 'false',
		watermark: 'true',
	};
	const entered = { fields, references: references({ audio: 1, image: 2, video: 1 }) };
	expect(plan(entered)).toStrictEqual({
		request: {
			model: 'video-m1',
			prompt: 'A lake',
			images: urls('image', 2),
			videos: urls('video', 1),
			audios: urls('audio', 1),
			aspect_ratio: '9:16',
			duration: 10,
			size: '1080P',
			image_mode: 'reference',
			generate_audio: false,
			watermark: true,
		},
		adjustments: [],
		seconds: 10,
	});
});

test('an empty field is not sent, nor an image mode without images', () => {
	const fields = { duration: '0', size: ' ', imageMode: 'first_last_frame', watermark: '' };
	expect(plan({ model: 'video-m4', fields }).request).toStrictEqual({
		model: 'video-m4',
		prompt: 'A lake',
	});
});

test.each<[Partial<EnteredVideo>, string]>([
	[{ model: '' }, 'Model is empty'],
	[{ prompt: ' \n' }, 'Prompt is empty'],
	[{ fields: { duration: '5.5' } }, 'Duration is 5.5'],
	[{ fields: { duration: 'long' } }, 'Duration is long'],
	[{ fields: { duration: '-5' } }, 'Duration is -5'],
	[{ fields: { watermark: 'maybe' } }, 'Watermark is maybe'],
	[{ references: references({ audio: 1 }) }, 'References contain audio alone'],
	[{ model: 'video-x9', references: references({ audio: 1 }) }, 'References contain audio alone'],
])('%j: %s', (entered, message) => {
	expect(() => plan(entered)).toThrow(message);
});

describe('a model that is not in the table', () => {
	const model = 'video-x9';

	test('gets every value as entered, and all kinds of files together', () => {
		const fields = {
			aspectRatio: '21:9',
			duration: '7',
			size: '4K',
			qualityMode: 'turbo',
			imageMode: 'collage',
			generateAudio: 'true',
			watermark: 'false',
		};
		const files = references({ image: 9, video: 3, audio: 3 });
		const { request, adjustments } = plan({ model, fields, references: files });
		expect(adjustments).toStrictEqual([]);
		expect(request).toStrictEqual({
			model,
			prompt: 'A lake',
			images: urls('image', 9),
			videos: urls('video', 3),
			audios: urls('audio', 3),
			aspect_ratio: '21:9',
			duration: 7,
			size: '4K',
			mode: 'turbo',
			image_mode: 'collage',
			generate_audio: true,
			watermark: false,
		});
	});

	test.each<[Partial<Record<ReferenceKind, number>>, string, number]>([
		[{ image: 10 }, '10 images', 9],
		[{ video: 4 }, '4 videos', 3],
		[{ image: 1, audio: 4 }, '4 audio files', 3],
	])(
		"is limited to the service's maximum numbers of files (spec 8): %j",
		(counts, files, max) => {
			expect(() => plan({ model, references: references(counts) })).toThrow(
				expect.objectContaining({
					message: `References contain ${files}. The service supports at most ${max}`,
					hint: `Use at most ${max}`,
				}) as Error,
			);
		},
	);
});

test.each<[Partial<EnteredVideo>, string, string]>([
	[
		{ model: 'video-m1', fields: { duration: '7' } },
		'Duration is 7. video-m1 supports Duration 4, 5, 8, 10 or 15',
		'Use 4, 5, 8, 10 or 15',
	],
	[
		{ model: 'video-m5', references: references({ video: 1, audio: 1 }) },
		'References contain 1 audio file. video-m5 supports no audio file',
		'Remove it',
	],
])('%j is refused with the values to use instead', (entered, message, hint) => {
	expect(() => plan(entered)).toThrow(
		expect.objectContaining({ name: 'InputError', message, hint }) as Error,
	);
});

describe.each(VIDEO_MODELS.map((model): [string, VideoModel] => [model.code, model]))(
	'%s in the table of models (spec 2.11)',
	(_code, model) => {
		test.each(VIDEO_FIELDS.map((field): [string, VideoField] => [field.label, field]))(
			'%s: the default is one of the values, and no value is listed twice',
			(_label, field) => {
				const values = field.values(model);
				expect(new Set(values).size).toBe(values.length);
				if (values.length > 0) expect(values).toContain(defaultOf(field, model));
			},
		);
	},
);
