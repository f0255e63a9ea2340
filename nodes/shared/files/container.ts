// cspell:ignore EBML ftyp hdlr mdat mdia mehd mfra minf moof moov msvideo mvex mvhd stbl stsz tkhd trak vide
/** What the container of a file tells about it. */
export interface Contents {
	/** Whether the file is whole; undefined where its container does not say where it ends. */
	readonly isWhole: boolean | undefined;
	/** Whether it has a video track; undefined where that is not looked for. */
	readonly hasVideo: boolean | undefined;
	readonly seconds?: number;
	readonly width?: number;
	readonly height?: number;
}

/** What a walk has found so far. */
interface Found {
	/** How many there are of each element of `COUNTED`, and the latest of all. */
	readonly counts: Record<string, number>;
	last: string;
	/** Number of the bytes of media, and of those that its index lists. */
	mediaBytes: number;
	listedBytes: number;
	/** Whether the size of the part with the media is not stated. */
	isOpen: boolean;
	hasVideo: boolean | undefined;
	/** Width and height of the latest track. */
	trackSize: readonly number[];
	/** Those of the video. */
	width: number | undefined;
	height: number | undefined;
	duration: number;
	/** Units of `duration` per second. */
	timescale: number;
}

/** An element: its header, and then its content; Infinity where its size is not stated. */
interface Element {
	readonly id: string;
	readonly headerBytes: number;
	readonly size: number;
}

/** What is done with the content of an element that is not skipped: it is walked, or read. */
type Rule = 'walk' | 'walkIfOpen' | ((content: Uint8Array, found: Found) => void);

/** A container: a tree of elements. */
interface Format {
	/** The element that begins with these bytes; undefined where more of them are needed. */
	readonly read: (bytes: Uint8Array) => Element | undefined;
	/** Less than that at the end of an element is padding. */
	readonly minHeaderBytes: number;
	/** The IDs that an element may contain, by its own; `top` for the file. Default: any. */
	readonly ids: Readonly<Record<string, RegExp>>;
	/** By the element and the one that contains it. */
	readonly rules: Readonly<Record<string, Rule>>;
	/** How many elements may be around one that counts for `isWhole`. */
	readonly depth: number;
	/** Whether a file is whole of which no element is cut; undefined where that cannot be told. */
	readonly isWhole: (found: Found) => boolean | undefined;
}

/** Larger elements are not read: the index of three hours of video has this size. */
const MAX_CONTENT = 1_000_000;
/** A file with more elements is not walked to its end. */
const MAX_ELEMENTS = 1_000_000;

/** A number without sign; bytes that are missing count as none. */
const uint = (bytes: Uint8Array, at: number, length: number) =>
	bytes.subarray(at, at + length).reduce((sum, byte) => sum * 256 + byte, 0);

const text = (bytes: Uint8Array, at: number) => String.fromCharCode(...bytes.subarray(at, at + 4));

const hex = (bytes: Uint8Array) =>
	[...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');

/** Whether times of a box have 8 bytes. */
const isLong = (box: Uint8Array) => box[0] === 1;

/** MP4, QuickTime and what is built like them (ISO/IEC 14496-12): boxes with their size. */
const BOXES: Format = {
	read(bytes) {
		const isLarge = uint(bytes, 0, 4) === 1;
		const headerBytes = isLarge ? 16 : 8;
		if (bytes.length < headerBytes) return undefined;
		const size = isLarge ? uint(bytes, 8, 8) : uint(bytes, 0, 4);
		return {
			id: text(bytes, 4),
			headerBytes,
			size: size === 0 ? Infinity : size - headerBytes,
		};
	},
	minHeaderBytes: 8,
	// Zeros fill a file up.
	ids: { top: /^([ -~\xa9]{4}|\0{4})$/ },
	rules: {
		'top/moov': 'walk',
		'moov/mvhd': (box, found) => {
			const [scaleAt, at, length] = isLong(box) ? [20, 24, 8] : [12, 16, 4];
			found.timescale = uint(box, scaleAt, 4);
			found.duration = uint(box, at, length);
		},
		'moov/mvex': 'walk',
		'mvex/mehd': (box, found) => {
			found.duration = uint(box, 4, isLong(box) ? 8 : 4);
		},
		'moov/trak': 'walk',
		'trak/tkhd': (box, found) => {
			found.trackSize = [8, 4].map((end) => uint(box, box.length - end, 2));
		},
		'trak/mdia': 'walk',
		'mdia/hdlr': (box, found) => {
			const isVideo = text(box, 8) === 'vide';
			if (isVideo && found.hasVideo !== true) [found.width, found.height] = found.trackSize;
			found.hasVideo = found.hasVideo === true || isVideo;
		},
		'mdia/minf': 'walk',
		'minf/stbl': 'walk',
		'stbl/stsz': (box, found) => {
			// One size for all samples may be that of a part of them.
			if (uint(box, 4, 4) > 0) return;
			for (let at = 12; at < box.length; at += 4) found.listedBytes += uint(box, at, 4);
		},
	},
	depth: 0,
	isWhole({ counts, last, mediaBytes, listedBytes, isOpen }) {
		const { ftyp = 0, moov = 0, moof = 0, mdat = 0, mfra = 0 } = counts;
		if (moov === 0 || mdat === 0 || last === 'moof') return false;
		// Several files in one, or fragments whose number is not stated. `mfra` lists them, at the end.
		if (moof > 0) return moov + mfra === 2 && last === 'mfra' ? true : undefined;
		if (moov > 1 || ftyp > 1 || listedBytes > mediaBytes) return false;
		return isOpen && listedBytes === 0 ? undefined : true;
	},
};

/** A picture has another index, which is not read. */
const PICTURE: Format = { ...BOXES, rules: {}, isWhole: ({ counts }) => counts['mdat'] === 1 };

/** IDs of EBML. */
const HEADER = '1a45dfa3';
const SEGMENT = '18538067';
const CLUSTER = '1f43b675';
const INFO = '1549a966';
const TRACKS = '1654ae6b';
const TRACK = 'ae';
const VIDEO = 'e0';

/** The length of an ID or of a size, by its first byte; 9 for none. */
const lengthBy = (byte = 0) => Math.clz32(byte) - 23;

/** WebM and Matroska (RFC 8794, RFC 9559). */
const EBML: Format = {
	read(bytes) {
		const idLength = lengthBy(bytes[0]);
		const sizeLength = lengthBy(bytes[idLength]);
		const headerBytes = idLength + sizeLength;
		if (bytes.length < headerBytes) return undefined;
		const first = bytes[idLength]! & (0xff >> sizeLength);
		const rest = uint(bytes, idLength + 1, sizeLength - 1);
		const size = first * 256 ** (sizeLength - 1) + rest;
		return {
			id: hex(bytes.subarray(0, idLength)),
			headerBytes,
			size: size === 2 ** (7 * sizeLength) - 1 ? Infinity : size,
		};
	},
	minHeaderBytes: 2,
	ids: {
		top: /^(1a45dfa3|18538067|ec|bf)$/,
		[SEGMENT]: /^(1.{7}|ec|bf)$/,
		[CLUSTER]: /^(e7|a3|a0|a7|ab|af|5854|ec|bf)$/,
	},
	rules: {
		[`top/${SEGMENT}`]: 'walk',
		[`${SEGMENT}/${CLUSTER}`]: 'walkIfOpen',
		[`${SEGMENT}/${INFO}`]: 'walk',
		[`${INFO}/2ad7b1`]: (nanoseconds, found) => {
			found.timescale = 1e9 / uint(nanoseconds, 0, 8);
		},
		[`${INFO}/4489`]: (duration, found) => {
			found.duration = float(duration);
		},
		[`${SEGMENT}/${TRACKS}`]: 'walk',
		[`${TRACKS}/${TRACK}`]: 'walk',
		[`${TRACK}/83`]: (type, found) => {
			found.hasVideo = found.hasVideo === true || uint(type, 0, 8) === 1;
		},
		[`${TRACK}/${VIDEO}`]: 'walk',
		[`${VIDEO}/b0`]: (width, found) => {
			found.width ??= uint(width, 0, 8);
		},
		[`${VIDEO}/ba`]: (height, found) => {
			found.height ??= uint(height, 0, 8);
		},
	},
	depth: 1,
	isWhole({ counts, last, isOpen }) {
		const isOne = counts[HEADER] === 1 && counts[SEGMENT] === 1;
		if (!isOne || !counts[CLUSTER] || !counts[TRACKS]) return false;
		// What is written at the end, such as the index, follows the last cluster.
		return isOpen && last === CLUSTER ? undefined : true;
	},
};

/** AVI and WebP: chunks of an even length. */
const CHUNKS: Format = {
	...PICTURE,
	isWhole: ({ last }) => last !== '',
	read(bytes) {
		if (bytes.length < 8) return undefined;
		const [, , , , d = 0, c = 0, b = 0, a = 0] = bytes;
		const size = uint(Uint8Array.of(a, b, c, d), 0, 4);
		return { id: text(bytes, 0), headerBytes: 8, size: size + (size % 2) };
	},
};

const FORMATS = new Map([
	['video/mp4', BOXES],
	['video/quicktime', BOXES],
	['audio/mp4', BOXES],
	['image/avif', PICTURE],
	['image/heic', PICTURE],
	['video/webm', EBML],
	['video/x-matroska', EBML],
	['audio/webm', EBML],
	['video/x-msvideo', CHUNKS],
	['image/webp', CHUNKS],
]);

function float(bytes: Uint8Array): number {
	const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
	return bytes.length === 8 ? view.getFloat64(0) : bytes.length === 4 ? view.getFloat32(0) : 0;
}

/** The elements whose number tells whether a file is whole: no others are kept, as a file may have any number of them. */
const COUNTED = new Set(['ftyp', 'moov', 'moof', 'mdat', 'mfra', HEADER, SEGMENT, CLUSTER, TRACKS]);

/** Longer videos are none: the number is wrong. */
const MAX_SECONDS = 1_000_000;

/**
 * Walks the elements of a file while its bytes pass, and keeps none but the few that it reads.
 *
 * @returns Undefined for a type whose container is not known.
 */
export function walkContainer(type: string) {
	const format = FORMATS.get(type);
	if (format === undefined) return undefined;
	const found: Found = {
		counts: {},
		last: '',
		mediaBytes: 0,
		listedBytes: 0,
		isOpen: false,
		hasVideo: undefined,
		trackSize: [],
		width: undefined,
		height: undefined,
		duration: 0,
		timescale: 1_000,
	};
	const parents: { readonly id: string; readonly end: number; readonly isOpen: boolean }[] = [];
	/** Bytes that have passed; where the next element begins; what has passed of it. */
	let [total, position] = [0, 0];
	let rest: Uint8Array = new Uint8Array();
	let [elements, isDamaged] = [0, false];

	/** The bytes of an element, or of the header of one that is walked; undefined where more of them are needed. */
	function step(bytes: Uint8Array): number | undefined {
		while (parents.length > 0 && parents.at(-1)!.end <= position) parents.pop();
		const leftBytes = (parents.at(-1)?.end ?? Infinity) - position;
		if (leftBytes < format!.minHeaderBytes) return leftBytes;
		const element = format!.read(bytes);
		if (element === undefined) return undefined;
		const { id, headerBytes, size } = element;
		const mayContain = (parent = 'top') => format!.ids[parent]?.test(id) ?? true;
		// Only what follows tells where an element ends that does not state its size.
		while (parents.at(-1)?.isOpen && !mayContain(parents.at(-1)?.id)) parents.pop();
		const { id: parent = 'top', end: parentEnd = Infinity } = parents.at(-1) ?? {};
		const end = size === Infinity ? parentEnd : position + headerBytes + size;
		isDamaged = !(size >= 0 && end <= parentEnd && mayContain(parent));
		if (isDamaged || ++elements > MAX_ELEMENTS) return Infinity;

		if (parents.length <= format!.depth) {
			found.last = id;
			if (COUNTED.has(id)) found.counts[id] = (found.counts[id] ?? 0) + 1;
			if (id === 'mdat')
				found.mediaBytes += size === Infinity ? -position - headerBytes : size;
			found.isOpen ||= size === Infinity && COUNTED.has(id) && parent === 'top';
		}
		const rule = format!.rules[`${parent}/${id}`];
		if (rule === 'walk' || (rule === 'walkIfOpen' && size === Infinity)) {
			parents.push({ id, end, isOpen: size === Infinity });
			return headerBytes;
		}
		if (typeof rule === 'function' && size <= MAX_CONTENT) {
			if (bytes.length < headerBytes + size) return undefined;
			rule(bytes.subarray(headerBytes, headerBytes + size), found);
		}
		return end - position;
	}

	return {
		/** The next bytes of the file. */
		push(chunk: Uint8Array): void {
			const skipped = Math.max(0, position - total);
			total += chunk.length;
			if (position >= total) return;
			rest = rest.length === 0 ? chunk.subarray(skipped) : Buffer.concat([rest, chunk]);
			for (let bytes = step(rest); bytes !== undefined; bytes = step(rest)) {
				position += bytes;
				rest = rest.subarray(Math.min(bytes, rest.length));
			}
		},
		/** What the file is, after its last byte. */
		end(): Contents {
			const isCut =
				(position !== Infinity && position > total) ||
				rest.length > 0 ||
				parents.some(({ end }) => end !== Infinity && end > position);
			if (found.isOpen) found.mediaBytes += total;
			const seconds = found.duration / found.timescale;
			const isKnown = seconds > 0 && seconds < MAX_SECONDS;
			const { hasVideo, width, height } = found;
			const isWhole =
				elements > MAX_ELEMENTS ? undefined : !isDamaged && !isCut && format.isWhole(found);
			return {
				isWhole,
				hasVideo,
				...(isKnown && { seconds: Math.round(seconds * 1_000) / 1_000 }),
				...(width && height && { width, height }),
			};
		},
	};
}
