// cspell:ignore faststart libaom libopus libvpx libx moov movflags
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A file, as an encoder has written it. */
interface MediaFile {
	readonly name: string;
	readonly type: string;
	readonly bytes: Buffer;
}

const file = (name: string, type: string): MediaFile => ({
	name,
	type,
	bytes: readFileSync(join(__dirname, '..', 'fixtures', 'media', name)),
});

/**
 * Videos of two seconds that FFmpeg 5.1 has written, with sound: H.264 by default, with `-movflags +faststart`,
 * `frag_keyframe+empty_moov`, the same with `skip_trailer`, and nothing; `-c:v libx265`; `-c:v libaom-av1` without sound;
 * `-c:v libvpx-vp9 -c:a libopus`; `-c:v libvpx -live 1`.
 */
export const VIDEOS: readonly MediaFile[] = [
	file('faststart.mp4', 'video/mp4'),
	file('moov-at-end.mp4', 'video/mp4'),
	file('fragmented.mp4', 'video/mp4'),
	file('open-fragments.mp4', 'video/mp4'),
	file('hevc.mp4', 'video/mp4'),
	file('av1.mp4', 'video/mp4'),
	file('h264.mov', 'video/quicktime'),
	file('known-size.webm', 'video/webm'),
	file('live.webm', 'video/webm'),
	file('h264.mkv', 'video/x-matroska'),
];

/** The video with this name. */
export const video = (name: string) => VIDEOS.find((each) => each.name === name)!;
