import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { retimeMp4 } from './retimeMp4';

/** A gzip-compressed file of `mp4-fixtures.json`. */
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

/** Playable MP4 file; undefined if there is no fixture of this size and aspect ratio. */
export function videoFile(size: string, aspectRatio: string, seconds: number): Buffer | undefined {
	const clip = unpack(`${size}_${aspectRatio.replace(':', 'x')}.mp4`);
	return clip && retimeMp4(clip, seconds);
}

/** Small JPEG image. */
export function imageFile(): Buffer {
	return unpack('thumb.jpg')!;
}
