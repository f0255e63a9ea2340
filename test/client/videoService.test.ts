import fc from 'fast-check';

import { effectiveVideo } from '../../emulator/video/effectiveVideo';
import { EMULATED_MODELS as SERVICE_MODELS } from '../../emulator/video/models';
import { InputError } from '../../nodes/client/errors';
import { REFERENCES, type Reference } from '../../nodes/client/video/models';
import { videoRequest } from '../../nodes/client/video/videoRequest';
import { SPEC_VIDEO_MODELS } from '../support/specVideoModels';

/** Mostly empty: a model rejects what it does not take. */
const oneOf = (...values: string[]) =>
	fc.oneof({ weight: 3, arbitrary: fc.constant('') }, fc.constantFrom(...values));
const count = (max: number) =>
	fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, fc.integer({ min: 1, max }));

const entered = fc.record({
	model: fc.constantFrom(...SERVICE_MODELS.map(({ code }) => code)),
	prompt: fc.constant('A lake'),
	fields: fc.record({
		aspectRatio: oneOf('16:9', '1:1', '9:16', '4:3', '3:4', '21:9', 'wide'),
		duration: fc.oneof(fc.constant(''), fc.integer({ min: 1, max: 40 }).map(String)),
		size: oneOf('480P', '720P', '1080P', '720p', '1080p', '4K'),
		qualityMode: oneOf('std', 'pro', 'Pro', 'best'),
		imageMode: oneOf('reference', 'first_last_frame'),
		generateAudio: oneOf('true', 'false'),
		watermark: oneOf('true', 'false'),
	}),
	references: fc.tuple(count(10), count(4), count(4)).map((counts) =>
		REFERENCES.flatMap(({ kind }, row): Reference[] =>
			Array.from({ length: counts[row]! }, (_, index) => ({
				kind,
				url: `https://example.com/${kind}/${index}`,
			})),
		),
	),
});

/** The plan; undefined where the input is rejected. */
function planned(
	input: Parameters<typeof videoRequest>[0],
): ReturnType<typeof videoRequest> | undefined {
	try {
		return videoRequest(input);
	} catch (error) {
		if (error instanceof InputError) return undefined;
		throw error;
	}
}

test('the emulator has the models of the specification', () => {
	expect(SERVICE_MODELS.map(({ code }) => code)).toStrictEqual(
		SPEC_VIDEO_MODELS.map(({ code }) => code),
	);
});

test('for any input, the service accepts the request and changes nothing in it', () => {
	fc.assert(
		fc.property(entered, (input) => {
			const plan = planned(input);
			fc.pre(plan !== undefined);
			const { request } = plan;
			const model = SERVICE_MODELS.find(({ code }) => code === request.model)!;
			const made = effectiveVideo(request as Parameters<typeof effectiveVideo>[0], model);

			expect(made.images).toStrictEqual(request.images ?? []);
			// The service truncates videos and audio to 15 seconds in total: it may drop whole files.
			const urls = [...made.videos, ...made.audios].map(({ url }) => url);
			expect([...(request.videos ?? []), ...(request.audios ?? [])]).toEqual(
				expect.arrayContaining(urls),
			);
			for (const field of [
				'aspect_ratio',
				'duration',
				'image_mode',
				'generate_audio',
				'watermark',
			] as const) {
				if (request[field] !== undefined) expect(made[field]).toBe(request[field]);
			}
			if (request.size !== undefined) expect(made.size).toBe(request.size.toUpperCase());
			if (request.mode !== undefined) {
				expect(made.size).toBe(request.mode === 'pro' ? '1080P' : '720P');
			}
		}),
		{ numRuns: 1000 },
	);
});
