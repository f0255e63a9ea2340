import { readFileSync } from 'node:fs';

import { assetPath } from '../assets';

/** Loops of four seconds, in `sounds/`: AAC in ADTS frames, one channel, 16 kHz. */
export const SOUNDS = ['bells', 'chord', 'waves', 'wind'] as const;

export type Sound = (typeof SOUNDS)[number];

const RATE = 16_000;
const SAMPLES_PER_FRAME = 1024;
/** Length of the header of an ADTS frame without a checksum. */
const HEADER = 7;

/** What a decoder must know about the loops; the description says low complexity, 16 kHz and one channel. */
export const SOUND = {
	frameSeconds: SAMPLES_PER_FRAME / RATE,
	decoderConfig: {
		codec: 'mp4a.40.2',
		sampleRate: RATE,
		numberOfChannels: 1,
		description: Buffer.from('1408', 'hex'),
	},
} as const;

/** The frames of a sound track: the loop, until the video ends. */
export function soundFrames(sound: Sound, seconds: number): readonly Buffer[] {
	const file = readFileSync(assetPath('media', 'sounds', `${sound}.aac`));
	const loop: Buffer[] = [];
	for (let start = 0; start < file.length;) {
		const length = (file.readUInt32BE(start + 3) >>> 13) & 0x1fff;
		loop.push(file.subarray(start + HEADER, start + length));
		start += length;
	}

	const length = Math.floor(seconds / SOUND.frameSeconds);
	return Array.from({ length }, (_, number) => loop[number % loop.length]!);
}
