import { parseCdnVideo } from './cdnVideo';

/** A reference video or audio and how many seconds of it are used. */
export interface Reference {
	readonly url: string;
	readonly seconds: number;
}

/** All reference videos and audios of a request together (spec 2.8). */
const MOST_SECONDS = 15;

/** What a file that the emulator did not make itself counts as; it fetches nothing. */
const FOREIGN_SECONDS = 5;

const secondsOf = (url: string): number =>
	parseCdnVideo(new URL(url).pathname)?.seconds ?? FOREIGN_SECONDS;

/** Cuts reference videos, then audios, to 15 seconds in all; what lies beyond is dropped (spec 2.8). */
export function clipReferences(
	videoUrls: readonly string[],
	audioUrls: readonly string[],
): { readonly videos: readonly Reference[]; readonly audios: readonly Reference[] } {
	let left = MOST_SECONDS;
	const clip = (url: string): Reference => {
		const seconds = Math.min(secondsOf(url), left);
		left -= seconds;
		return { url, seconds };
	};
	const used = ({ seconds }: Reference) => seconds > 0;
	const videos = videoUrls.map(clip).filter(used);
	return { videos, audios: audioUrls.map(clip).filter(used) };
}
