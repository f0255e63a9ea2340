// cspell:ignore faststart libaom libopus libvpx libx moov movflags
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What a container tells about a file. */
export interface MediaFile {
	readonly name: string;
	readonly type: string;
	readonly bytes: Buffer;
	/** Whether the container says where it ends. */
	readonly isClosed: boolean;
	readonly facts: Readonly<Record<string, number>>;
}

const file = (
	name: string,
	type: string,
	{ isClosed = true, ...facts }: { readonly isClosed?: boolean; readonly seconds?: number } = {},
): MediaFile => ({
	name,
	type,
	bytes: readFileSync(join(__dirname, '..', 'fixtures', 'media', name)),
	isClosed,
	facts: { ...facts, width: 64, height: 36 },
});

/**
 * Videos of two seconds that FFmpeg 5.1 has written, with sound: H.264 by default, with `-movflags +faststart`,
 * `frag_keyframe+empty_moov`, the same with `skip_trailer`, and nothing; `-c:v libx265`; `-c:v libaom-av1` without sound;
 * `-c:v libvpx-vp9 -c:a libopus`; `-c:v libvpx -live 1`.
 */
export const VIDEOS: readonly MediaFile[] = [
	file('faststart.mp4', 'video/mp4', { seconds: 2 }),
	file('moov-at-end.mp4', 'video/mp4', { seconds: 2 }),
	file('fragmented.mp4', 'video/mp4'),
	file('open-fragments.mp4', 'video/mp4', { isClosed: false }),
	file('hevc.mp4', 'video/mp4', { seconds: 2 }),
	file('av1.mp4', 'video/mp4', { seconds: 2 }),
	file('h264.mov', 'video/quicktime', { seconds: 2 }),
	file('known-size.webm', 'video/webm', { seconds: 2.008 }),
	file('live.webm', 'video/webm', { isClosed: false }),
	file('h264.mkv', 'video/x-matroska', { seconds: 2.064 }),
];

/** Sound alone, in containers of videos. */
export const SOUNDS = [
	file('audio-only.mp4', 'video/mp4'),
	file('audio-only.webm', 'video/webm'),
] as const;

/** Pictures, in containers as videos have. */
export const PICTURES = [file('pic.avif', 'image/avif'), file('pic.webp', 'image/webp')] as const;

/** The video with this name. */
export const video = (name: string) => VIDEOS.find((each) => each.name === name)!;
