import type { H264MP4Encoder } from 'h264-mp4-encoder';
import type { EncodedPacket, InputTrack } from 'mediabunny' with { 'resolution-mode': 'import' };
import { readFile } from 'node:fs/promises';

import { assetPath } from '../assets';
import { chance } from '../random';
import LAYOUT from './layout.json';
import { motionFrame, type Motion } from './motionFrame';
import { pixelText, type Rectangle } from './pixelText';

/** Loops of four seconds, in `sounds/`: AAC in ADTS frames, one channel, 16 kHz. */
export const SOUNDS = ['bells', 'chord', 'waves', 'wind'] as const;

/** A video to draw. Texts are Latin letters without accents, digits and spaces. */
export interface Drawing {
	/** Pixels, even numbers. */
	readonly width: number;
	readonly height: number;
	readonly seconds: number;
	readonly words: string;
	/** Names of the pictures that it begins and ends with, for a short while. */
	readonly frames?: readonly string[];
	/** Names of reference pictures. */
	readonly references?: readonly string[];
	readonly watermark?: boolean;
	/** The sound of a track; without it the video is silent. */
	readonly sound?: (typeof SOUNDS)[number];
}

const FRAMES_PER_SECOND = 24;
/** A macroblock. */
const BLOCK = 16;
const { luma: LUMA, texts: TEXTS, sun: SUN, bar: BAR } = LAYOUT;
/** A picture that a video begins or ends with is seen for a second, or a quarter of a short video. */
const MAX_SHARE = 0.25;

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

/** A part of a video that begins with a picture of its own. */
interface Scene {
	readonly words: string;
	readonly label: string;
	readonly hasSun: boolean;
	/** Number of its first frame, and of the one after its last. */
	readonly from: number;
	readonly to: number;
}

function scenesOf({ seconds, words, frames = [] }: Drawing): readonly Scene[] {
	const end = seconds * FRAMES_PER_SECOND;
	const shown = Math.floor(Math.min(FRAMES_PER_SECOND, end * MAX_SHARE));
	const [first, last] = frames;
	const [start, stop] = [first === undefined ? 0 : shown, last === undefined ? end : end - shown];
	const picture = (name: string | undefined, label: string, from: number, to: number) =>
		name === undefined ? [] : [{ words: name, label, hasSun: false, from, to }];
	return [
		...picture(first, 'FIRST FRAME', 0, start),
		{ words, label: 'EMULATED VIDEO', hasSun: true, from: start, to: stop },
		...picture(last, 'LAST FRAME', stop, end),
	];
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

/** The sun that crosses the sky, and the bar above it that grows with its way. */
function movement({ width, height, seconds }: Drawing) {
	const radius = Math.round(Math.min(width, height) * SUN.radius);
	const center = Math.round(height * SUN.center);
	const steps = seconds * FRAMES_PER_SECOND - 1;
	const at = (frame: number) => Math.round(radius + (frame / steps) * (width - 2 * radius));
	return {
		shapes: (frame: number, hasSun: boolean): readonly Rectangle[] => [
			...(hasSun ? disk(at(frame), center, radius) : []),
			[0, 0, at(frame), Math.round(height * BAR)],
		],
		motionAt: (frame: number): Motion => ({
			moving: Math.ceil((center + radius) / BLOCK),
			pixels: at(frame) - at(frame - 1),
		}),
	};
}

/** The picture that a scene begins with: a colored sky and ground, texts, and what moves. */
function pictureOf(drawing: Drawing, { words, label, hasSun, from }: Scene): Buffer {
	const { width, height, references = [], watermark } = drawing;
	const picture = Buffer.alloc((width * height * 3) / 2, LUMA.sky);
	const horizon = Math.round(height * 0.8);
	fill(picture, width, [0, horizon, width, height - horizon], LUMA.ground);
	const write = (place: keyof typeof TEXTS, text: string) => {
		const { lineLength, top } = TEXTS[place];
		return pixelText(text, { width, top: Math.round(height * top), lineLength });
	};
	const named = `REF ${references.join(' ')}`.slice(0, TEXTS.references.lineLength);
	for (const shape of [
		...write('words', words),
		...write('label', label),
		...(references.length > 0 && hasSun ? write('references', named) : []),
		...(watermark ? write('watermark', 'AI GENERATED') : []),
		...movement(drawing).shapes(from, hasSun),
	])
		fill(picture, width, shape, LUMA.light);

	// The two color planes follow the brightness.
	const colors = width * height;
	picture.fill(112 + Math.round(48 * chance(words, 'blue')), colors, (colors * 5) / 4);
	picture.fill(96 + Math.round(48 * chance(words, 'red')), (colors * 5) / 4);
	return picture;
}

/** Encodes pictures as the key frames of an MP4 file. */
async function encodePictures(
	{ width, height }: Drawing,
	pictures: readonly Buffer[],
): Promise<Uint8Array> {
	const encoder = await (await (encoders ??= loadEncoder()))();
	try {
		Object.assign(encoder, { width, height, frameRate: FRAMES_PER_SECOND, ...LAYOUT.encoder });
		encoder.initialize();
		for (const picture of pictures) {
			encoder.addFrameYuv(picture);
			// Other requests are answered between two pictures.
			await new Promise((resolve) => setImmediate(resolve));
		}
		encoder.finalize();
		return encoder.FS.readFile(encoder.outputFilename);
	} finally {
		encoder.delete();
	}
}

/** A sample of an MP4 file: a unit behind its length. */
function toSample(unit: Buffer): Buffer {
	const length = Buffer.alloc(4);
	length.writeUInt32BE(unit.length);
	return Buffer.concat([length, unit]);
}

/** Clears the times of creation and change at the beginning of these boxes: each drawing gives the same bytes. */
function withoutTimes(file: Buffer): Buffer {
	for (const type of ['mvhd', 'tkhd', 'mdhd']) {
		for (let box = file.indexOf(type); box >= 0; box = file.indexOf(type, box + 16))
			file.fill(0, box + 8, box + 16);
	}
	return file;
}

async function encode(drawing: Drawing): Promise<Buffer> {
	const { width, height, sound, seconds } = drawing;
	const scenes = scenesOf(drawing);
	const grid = { columns: Math.ceil(width / BLOCK), rows: Math.ceil(height / BLOCK) };
	const { motionAt } = movement(drawing);
	const pictures = scenes.map((scene) => pictureOf(drawing, scene));

	const mp4 = await import('mediabunny');
	const open = (file: Uint8Array) =>
		new mp4.Input({ source: new mp4.BufferSource(file), formats: [mp4.MP4, mp4.ADTS] });
	const packetsOf = async (track: InputTrack) => {
		const packets: EncodedPacket[] = [];
		for await (const packet of new mp4.EncodedPacketSink(track).packets()) packets.push(packet);
		return packets;
	};
	const target = new mp4.BufferTarget();
	const format = new mp4.Mp4OutputFormat({ fastStart: 'in-memory' });
	const output = new mp4.Output({ format, target });
	const video = new mp4.EncodedVideoPacketSource('avc');
	output.addVideoTrack(video, { frameRate: FRAMES_PER_SECOND });
	const audio = new mp4.EncodedAudioPacketSource('aac');
	if (sound) output.addAudioTrack(audio);
	await output.start();

	const shown = await open(await encodePictures(drawing, pictures)).getPrimaryVideoTrack();
	const config = { decoderConfig: (await shown!.getDecoderConfig())! };
	const duration = 1 / FRAMES_PER_SECOND;
	for (const [index, picture] of (await packetsOf(shown!)).entries()) {
		const { from, to } = scenes[index]!;
		for (let frame = from; frame < to; frame++) {
			const time = { timestamp: frame * duration, duration };
			const moved = () => toSample(motionFrame(grid, motionAt(frame), frame - from));
			const packet = picture.clone(
				frame === from ? time : { ...time, data: moved(), type: 'delta' },
			);
			await video.add(packet, config);
			if (frame % 4 === 0) await new Promise((resolve) => setImmediate(resolve));
		}
	}
	if (sound) {
		const file = await readFile(assetPath('media', 'sounds', `${sound}.aac`));
		const heard = await open(file).getPrimaryAudioTrack();
		const config = { decoderConfig: (await heard!.getDecoderConfig())! };
		const loop = await packetsOf(heard!);
		const { duration } = loop[0]!;
		for (let number = 0; number < Math.floor(seconds / duration); number++) {
			const packet = loop[number % loop.length]!;
			await audio.add(packet.clone({ timestamp: number * duration }), config);
		}
	}
	await output.finalize();
	return withoutTimes(Buffer.from(target.buffer!));
}

/** Draws a video that shows its words and moves: an MP4 file of some tens of kilobytes, the same bytes each time. */
export async function drawVideo(drawing: Drawing): Promise<Buffer> {
	const drawn = lastDrawing.then(() => encode(drawing));
	lastDrawing = drawn.catch(() => undefined);
	return await drawn;
}
