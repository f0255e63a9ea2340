import { parseCdnVideo } from './cdnVideo';

/** Reference video or audio, and the number of seconds used of it. */
export interface ReferenceClip {
	readonly url: string;
	readonly seconds: number;
}

/** Maximum total duration of the reference videos and audios of a request (spec 2.8). */
const MAX_TOTAL_SECONDS = 15;

/** Assumed duration of files that are not the emulator's own; it fetches nothing. */
const UNKNOWN_CLIP_SECONDS = 5;

const secondsOf = (url: string): number =>
	parseCdnVideo(new URL(url).pathname)?.seconds ?? UNKNOWN_CLIP_SECONDS;

/** Truncates reference videos, then audios, to a total of 15 seconds (spec 2.8). */
export function clipReferences(
	videoUrls: readonly string[],
	audioUrls: readonly string[],
): { readonly videos: readonly ReferenceClip[]; readonly audios: readonly ReferenceClip[] } {
	let left = MAX_TOTAL_SECONDS;
	const clip = (url: string): ReferenceClip => {
		const seconds = Math.min(secondsOf(url), left);
		left -= seconds;
		return { url, seconds };
	};
	const used = ({ seconds }: ReferenceClip) => seconds > 0;
	const videos = videoUrls.map(clip).filter(used);
	return { videos, audios: audioUrls.map(clip).filter(used) };
}
