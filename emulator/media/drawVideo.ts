import type { H264MP4Encoder } from 'h264-mp4-encoder';

import { chance } from '../random';
import { pixelText, type Rectangle } from './pixelText';

/** A video to draw. */
export interface Drawing {
	/** Pixels, even numbers. */
	readonly width: number;
	readonly height: number;
	readonly seconds: number;
	/** Text in the picture: Latin letters without accents, digits and spaces. */
	readonly words: string;
}

/** Enough to see a movement; a frame takes 3 ms at 720P and 10 ms at 1080P. */
const MAX_FRAMES_PER_SECOND = 4;
/** A longer video has fewer frames per second. */
const MAX_FRAMES = 30;
/** Brightness (Y of BT.601) of what is drawn. */
const LUMA = { sky: 72, ground: 48, light: 235 } as const;
const LINE_LENGTH = { words: 20, label: 32 } as const;
const LABEL = 'EMULATED VIDEO';

/** Real time even while a test has fake timers. */
const { setImmediate } = globalThis;

/** The encoder is loaded with the first video. */
let encoders: Promise<() => Promise<H264MP4Encoder>> | undefined;
/** The end of the last drawing: encoders share memory and a file system, so they take turns. */
let lastDrawing: Promise<unknown> = Promise.resolve();

/** Loads the encoder without the handlers that it adds to this process, which would turn a rejection into an exit. */
async function loadEncoder(): Promise<() => Promise<H264MP4Encoder>> {
	const events = ['uncaughtException', 'unhandledRejection'] as const;
	const before = new Set(events.flatMap((event) => process.listeners(event as 'exit')));
	const { createH264MP4Encoder } = await import('h264-mp4-encoder');
	for (const event of events) {
		for (const listener of process.listeners(event as 'exit')) {
			if (!before.has(listener)) process.off(event, listener);
		}
	}
	return createH264MP4Encoder;
}

/** Fills a rectangle of a picture with a brightness. */
function fill(luma: Buffer, pictureWidth: number, [x, y, width, height]: Rectangle, value: number) {
	for (let row = y; row < y + height; row++) {
		const start = row * pictureWidth + Math.max(x, 0);
		luma.fill(value, start, row * pictureWidth + Math.min(x + width, pictureWidth));
	}
}

/** Rows of a disk. */
function disk(centerX: number, centerY: number, radius: number): readonly Rectangle[] {
	return [...Array(2 * radius).keys()].map((row) => {
		const half = Math.round(Math.sqrt(radius ** 2 - (row - radius) ** 2));
		return [centerX - half, centerY - radius + row, 2 * half, 1] as const;
	});
}

/** What does not move: a colored sky and ground, the words, and a label. */
function background({ width, height, words }: Drawing): Buffer {
	const picture = Buffer.alloc((width * height * 3) / 2, LUMA.sky);
	const paint = (shape: Rectangle, value: number) => {
		fill(picture, width, shape, value);
	};
	const horizon = Math.round(height * 0.8);
	paint([0, horizon, width, height - horizon], LUMA.ground);
	const text = { width, top: Math.round(height * 0.38), lineLength: LINE_LENGTH.words };
	const label = { width, top: Math.round(height * 0.88), lineLength: LINE_LENGTH.label };
	for (const shape of [...pixelText(words, text), ...pixelText(LABEL, label)])
		paint(shape, LUMA.light);

	// The two color planes follow the brightness.
	const colors = width * height;
	picture.fill(112 + Math.round(48 * chance(words, 'blue')), colors, (colors * 5) / 4);
	picture.fill(96 + Math.round(48 * chance(words, 'red')), (colors * 5) / 4);
	return picture;
}

/** What moves: a sun that crosses the sky, and a bar along the lower edge; both show how much of the video has passed. */
function moving({ width, height }: Drawing, passed: number): readonly Rectangle[] {
	const radius = Math.round(Math.min(width, height) * 0.06);
	const x = Math.round(radius + passed * (width - 2 * radius));
	const y = Math.round(height * (0.26 - 0.16 * Math.sin(Math.PI * passed)));
	const bar = Math.round(height * 0.02);
	return [...disk(x, y, radius), [0, height - bar, Math.round(width * passed), bar]];
}

/** The box that names the first frame as the only one where decoding can start (ISO/IEC 14496-12, `stss`). */
const FIRST_FRAME_IS_KEY = Buffer.from('0000001473747373000000000000000100000001', 'hex');
/** The boxes around it, from the outside; it follows their last content. */
const BOXES = ['moov', 'trak', 'mdia', 'minf', 'stbl'] as const;

/** Adds the list of key frames, which the encoder leaves out: without it players jump to frames that they cannot decode. */
function withKeyFrames(file: Buffer): Buffer {
	let start = file.lastIndexOf('moov') - 4;
	const end = start + file.readUInt32BE(start);
	for (const type of BOXES) {
		start = file.indexOf(type, start) - 4;
		file.writeUInt32BE(file.readUInt32BE(start) + FIRST_FRAME_IS_KEY.length, start);
	}
	return Buffer.concat([file.subarray(0, end), FIRST_FRAME_IS_KEY, file.subarray(end)]);
}

/** Clears the times of creation and change at the beginning of these boxes: each drawing gives the same bytes. */
function withoutTimes(file: Buffer): Buffer {
	const start = file.lastIndexOf('moov');
	for (const type of ['mvhd', 'tkhd', 'mdhd']) {
		const box = file.indexOf(type, start);
		file.fill(0, box + 8, box + 16);
	}
	return file;
}

async function encode(drawing: Drawing): Promise<Buffer> {
	const { width, height, seconds } = drawing;
	const createEncoder = await (encoders ??= loadEncoder());
	const encoder = await createEncoder();
	try {
		// The encoder rounds the frame rate to an integer.
		const perSecond = Math.floor(MAX_FRAMES / seconds);
		const frameRate = Math.max(1, Math.min(perSecond, MAX_FRAMES_PER_SECOND));
		const frames = seconds * frameRate;
		Object.assign(encoder, { width, height, frameRate, speed: 10, groupOfPictures: frames });
		encoder.initialize();
		const still = background(drawing);
		const picture = Buffer.alloc(still.length);
		for (let frame = 0; frame < frames; frame++) {
			still.copy(picture);
			for (const shape of moving(drawing, frame / Math.max(frames - 1, 1))) {
				fill(picture, width, shape, LUMA.light);
			}
			encoder.addFrameYuv(picture);
			// Other requests are answered between two frames.
			await new Promise((resolve) => setImmediate(resolve));
		}
		encoder.finalize();
		return withoutTimes(
			withKeyFrames(Buffer.from(encoder.FS.readFile(encoder.outputFilename))),
		);
	} finally {
		encoder.delete();
	}
}

/** Draws a video that shows its words and moves: an MP4 file of some tens of kilobytes, the same bytes each time. */
export async function drawVideo(drawing: Drawing): Promise<Buffer> {
	const drawn = lastDrawing.then(() => encode(drawing));
	lastDrawing = drawn.catch(() => undefined);
	return await drawn;
}
