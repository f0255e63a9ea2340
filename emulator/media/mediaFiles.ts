import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { stretchMp4 } from './stretchMp4';

interface Packed {
	readonly bytes: number;
	readonly gzipBase64: string;
}

const PACKED = JSON.parse(readFileSync(join(__dirname, 'mp4-fixtures.json'), 'utf8')) as Readonly<
	Record<string, Packed>
>;

function unpack(name: string): Buffer | undefined {
	const packed = PACKED[name];
	return packed && gunzipSync(Buffer.from(packed.gzipBase64, 'base64'));
}

/** A playable MP4 file, or undefined when there is no clip of that size and shape. */
export function videoFile(size: string, aspectRatio: string, seconds: number): Buffer | undefined {
	const clip = unpack(`${size}_${aspectRatio.replace(':', 'x')}.mp4`);
	return clip && stretchMp4(clip, seconds);
}

/** A small JPEG picture. */
export function pictureFile(): Buffer {
	return unpack('thumb.jpg')!;
}
