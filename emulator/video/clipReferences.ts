import { parseCdnVideo } from './cdnVideo';

/** Maximum total duration of the reference videos and audios of a request (spec 2.8). */
const MAX_TOTAL_SECONDS = 15;

/** Assumed duration of files that are not the emulator's own; it fetches nothing. */
const UNKNOWN_CLIP_SECONDS = 5;

const secondsOf = (url: string): number =>
	parseCdnVideo(new URL(url).pathname)?.seconds ?? UNKNOWN_CLIP_SECONDS;

/** Truncates reference videos, then audios, to a total of 15 seconds (spec 2.8); each with the seconds used of it. */
export function clipReferences(videoUrls: readonly string[], audioUrls: readonly string[]) {
	let left = MAX_TOTAL_SECONDS;
	const clip = (url: string) => {
		const seconds = Math.min(secondsOf(url), left);
		left -= seconds;
		return seconds > 0 ? [{ url, seconds }] : [];
	};
	const videos = videoUrls.flatMap(clip);
	return { videos, audios: audioUrls.flatMap(clip) };
}
