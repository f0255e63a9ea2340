// cspell:ignore ANMF EBML ftyp hdlr mdat mdia mehd mfra minf moof moov movi msvideo mvex mvhd stbl stsz tkhd trak vide
/** What a walk has found so far. */
type Found = ReturnType<typeof nothing>;

const nothing = () => ({
	/** How many there are of each element of `COUNTED`, and the latest of all. */
	counts: {} as Record<string, number>,
	last: '',
	/** Number of the bytes of media, and of those that its index lists. */
	mediaBytes: 0,
	listedBytes: 0,
	/** Whether the size of the part with the media is not stated. */
	isOpen: false,
	/** Undefined where that is not looked for. */
	hasVideo: undefined as boolean | undefined,
	/** Width and height of the latest track. */
	trackSize: [] as readonly number[],
	/** Those of the video. */
	width: undefined as number | undefined,
	height: undefined as number | undefined,
	duration: 0,
	/** Units of `duration` per second. */
	timescale: 1_000,
});

/** An element: its ID, its header, and the size of its content; Infinity where that is not stated. */
type Element = readonly [id: string, headerBytes: number, size: number];

/** What is done with the content of an element that is not skipped: it is walked, or read. */
type Rule = 'walk' | 'walkIfOpen' | ((content: Buffer, found: Found) => Partial<Found>);

/** A container: a tree of elements. */
interface Format {
	/** The element that begins with these bytes; undefined where more of them are needed. */
	readonly read: (bytes: Buffer) => Element | undefined;
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
/** Longer videos are none: the number is wrong. */
const MAX_SECONDS = 1_000_000;

/** The elements with pictures and sound. */
const MEDIA = /^(mdat|movi|VP8[ L]|ANMF)$/;

/** A number without sign; bytes that are missing count as none. */
const uint = (bytes: Uint8Array, at = 0, length = 8) =>
	bytes.subarray(at, at + length).reduce((sum, byte) => sum * 256 + byte, 0);

/** The name of a box or chunk. */
const nameAt = (bytes: Buffer, at: number) => bytes.toString('latin1', at, at + 4);

/** Number of the bytes of a time in a box. */
const timeBytes = (box: Buffer) => (box[0] === 1 ? 8 : 4);

/** MP4, QuickTime and what is built like them (ISO/IEC 14496-12): boxes with their size. */
const BOXES: Format = {
	read(bytes) {
		const isLarge = uint(bytes, 0, 4) === 1;
		const headerBytes = isLarge ? 16 : 8;
		if (bytes.length < headerBytes) return undefined;
		const size = isLarge ? uint(bytes, 8) : uint(bytes, 0, 4);
		return [nameAt(bytes, 4), headerBytes, size === 0 ? Infinity : size - headerBytes];
	},
	minHeaderBytes: 8,
	// Zeros fill a file up.
	ids: { top: /^([ -~\xa9]{4}|\0{4})$/ },
	rules: {
		'top/moov': 'walk',
		'moov/mvhd': (box) => {
			const scaleAt = 4 + 2 * timeBytes(box);
			return {
				timescale: uint(box, scaleAt, 4),
				duration: uint(box, scaleAt + 4, timeBytes(box)),
			};
		},
		'moov/mvex': 'walk',
		'mvex/mehd': (box) => ({ duration: uint(box, 4, timeBytes(box)) }),
		'moov/trak': 'walk',
		'trak/tkhd': (box) => ({ trackSize: [8, 4].map((end) => uint(box, box.length - end, 2)) }),
		'trak/mdia': 'walk',
		'mdia/hdlr': (box, { hasVideo = false, trackSize: [width, height] }) =>
			hasVideo || nameAt(box, 8) !== 'vide'
				? { hasVideo }
				: { hasVideo: true, width, height },
		'mdia/minf': 'walk',
		'minf/stbl': 'walk',
		'stbl/stsz': (box, { listedBytes }) => {
			// One size for all samples may be that of a part of them.
			const isListed = uint(box, 4, 4) === 0;
			for (let at = 12; isListed && at < box.length; at += 4) listedBytes += uint(box, at, 4);
			return { listedBytes };
		},
	},
	depth: 0,
	isWhole({ counts, last, mediaBytes, listedBytes, isOpen }) {
		const { ftyp = 0, moov = 0, moof = 0, mfra = 0 } = counts;
		if (moov === 0 || mediaBytes <= 0 || last === 'moof') return false;
		// Several files in one, or fragments whose number is not stated. `mfra` lists them, at the end.
		if (moof > 0) return moov + mfra === 2 && last === 'mfra' ? true : undefined;
		if (moov > 1 || ftyp > 1 || listedBytes > mediaBytes) return false;
		return isOpen && listedBytes === 0 ? undefined : true;
	},
};

/** A picture has another index, which is not read. */
const PICTURE: Format = { ...BOXES, rules: {}, isWhole: ({ counts }) => counts['mdat'] === 1 };

/** The elements of EBML that have a rule, by their ID. */
const NAMES = new Map([
	['1a45dfa3', 'header'],
	['18538067', 'segment'],
	['1f43b675', 'cluster'],
	['1549a966', 'info'],
	['2ad7b1', 'nanoseconds'],
	['4489', 'duration'],
	['1654ae6b', 'tracks'],
	['ae', 'track'],
	['83', 'type'],
	['e0', 'video'],
	['b0', 'width'],
	['ba', 'height'],
]);

/** The length of an ID or of a size, by its first byte; 9 for none. */
const lengthBy = (byte = 0) => Math.clz32(byte) - 23;

/** WebM and Matroska (RFC 8794, RFC 9559). */
const EBML: Format = {
	read(bytes) {
		const idLength = lengthBy(bytes[0]);
		const sizeLength = lengthBy(bytes[idLength]);
		const headerBytes = idLength + sizeLength;
		if (bytes.length < headerBytes) return undefined;
		const id = bytes.toString('hex', 0, idLength);
		// The first bits tell the length.
		const first = bytes[idLength]! & (0xff >> sizeLength);
		const rest = uint(bytes, idLength + 1, sizeLength - 1);
		const size = first * 256 ** (sizeLength - 1) + rest;
		const isOpen = size === 2 ** (7 * sizeLength) - 1;
		return [NAMES.get(id) ?? id, headerBytes, isOpen ? Infinity : size];
	},
	minHeaderBytes: 2,
	ids: {
		top: /^(header|segment|ec|bf)$/,
		segment: /^(cluster|info|tracks|1.{7}|ec|bf)$/,
		cluster: /^(e7|a3|a0|a7|ab|af|5854|ec|bf)$/,
	},
	rules: {
		'top/segment': 'walk',
		'segment/cluster': 'walkIfOpen',
		'segment/info': 'walk',
		'info/nanoseconds': (content) => ({ timescale: 1e9 / uint(content) }),
		'info/duration': (content) => ({
			duration: content.length < 8 ? content.readFloatBE() : content.readDoubleBE(),
		}),
		'segment/tracks': 'walk',
		'tracks/track': 'walk',
		'track/type': (content, { hasVideo }) => ({
			hasVideo: hasVideo === true || uint(content) === 1,
		}),
		'track/video': 'walk',
		// The first of several tracks.
		'video/width': (content, { width = uint(content) }) => ({ width }),
		'video/height': (content, { height = uint(content) }) => ({ height }),
	},
	depth: 1,
	isWhole({ counts: { header, segment, cluster, tracks }, last, isOpen }) {
		if (header !== 1 || segment !== 1 || !cluster || !tracks) return false;
		// What is written at the end, such as the index, follows the last cluster.
		return isOpen && last === 'cluster' ? undefined : true;
	},
};

/** AVI and WebP: chunks of an even length. Those that have chunks in them begin with a name of their own. */
const CHUNKS: Format = {
	...PICTURE,
	rules: { 'top/AVI ': 'walk', 'top/WEBP': 'walk' },
	depth: 1,
	isWhole: ({ mediaBytes }) => mediaBytes > 0,
	read(bytes) {
		const headerBytes = /^(RIFF|LIST)/.test(nameAt(bytes, 0)) ? 12 : 8;
		if (bytes.length < headerBytes) return undefined;
		const size = bytes.readUInt32LE(4);
		const name = nameAt(bytes, headerBytes === 12 ? 8 : 0);
		return [name, headerBytes, size + (size % 2) + 8 - headerBytes];
	},
};

const FORMATS: readonly (readonly [format: Format, types: readonly string[]])[] = [
	[BOXES, ['video/mp4', 'video/quicktime', 'audio/mp4']],
	[PICTURE, ['image/avif', 'image/heic']],
	[EBML, ['video/webm', 'video/x-matroska', 'audio/webm']],
	[CHUNKS, ['video/x-msvideo', 'image/webp']],
];

/** The elements whose number tells whether a file is whole: no others are kept, as a file may have any number of them. */
const COUNTED = new Set('ftyp moov moof mdat mfra header segment cluster tracks'.split(' '));

/**
 * Walks the elements of a file while its bytes pass, and keeps none but the few that it reads.
 *
 * @returns Undefined for a type whose container is not known.
 */
export function walkContainer(type: string) {
	const [format] = FORMATS.find(([, types]) => types.includes(type)) ?? [];
	if (format === undefined) return undefined;
	const { read, minHeaderBytes, ids, rules, depth } = format;
	const found = nothing();
	const parents: { readonly id: string; readonly end: number; readonly isOpen: boolean }[] = [];
	/** Bytes that have passed; where the next element begins; what has passed of it. */
	let [total, position] = [0, 0];
	let rest = Buffer.alloc(0);
	let [elements, isDamaged] = [0, false];

	/** The bytes of an element, or of the header of one that is walked; undefined where more of them are needed. */
	function step(bytes: Buffer): number | undefined {
		while (parents.length > 0 && parents.at(-1)!.end <= position) parents.pop();
		const leftBytes = (parents.at(-1)?.end ?? Infinity) - position;
		if (leftBytes < minHeaderBytes) return leftBytes;
		const element = read(bytes);
		if (element === undefined) return undefined;
		const [id, headerBytes, size] = element;
		const mayContain = (parent = 'top') => ids[parent]?.test(id) ?? true;
		// Only what follows tells where an element ends that does not state its size.
		while (parents.at(-1)?.isOpen && !mayContain(parents.at(-1)?.id)) parents.pop();
		const { id: parent = 'top', end: parentEnd = Infinity } = parents.at(-1) ?? {};
		const isOpen = size === Infinity;
		const end = isOpen ? parentEnd : position + headerBytes + size;
		isDamaged = !(size >= 0 && end <= parentEnd && mayContain(parent));
		if (isDamaged || ++elements > MAX_ELEMENTS) return Infinity;

		if (parents.length <= depth) {
			found.last = id;
			if (COUNTED.has(id)) found.counts[id] = (found.counts[id] ?? 0) + 1;
			if (MEDIA.test(id)) found.mediaBytes += isOpen ? -position - headerBytes : size;
			found.isOpen ||= isOpen && COUNTED.has(id) && parent === 'top';
		}
		const rule = rules[`${parent}/${id}`];
		if (rule === 'walk' || (rule === 'walkIfOpen' && isOpen)) {
			parents.push({ id, end, isOpen });
			return headerBytes;
		}
		if (typeof rule === 'function' && size <= MAX_CONTENT) {
			if (bytes.length < headerBytes + size) return undefined;
			Object.assign(found, rule(bytes.subarray(headerBytes, headerBytes + size), found));
		}
		return end - position;
	}

	return {
		/** The next bytes of the file. */
		push(chunk: Uint8Array): void {
			const skipped = Math.max(0, position - total);
			total += chunk.length;
			if (position >= total) return;
			rest = Buffer.concat([rest, chunk.subarray(rest.length === 0 ? skipped : 0)]);
			for (let bytes = step(rest); bytes !== undefined; bytes = step(rest)) {
				position += bytes;
				rest = rest.subarray(Math.min(bytes, rest.length));
			}
		},
		/** What the file is, after its last byte. `isWhole` is undefined where its container does not say where it ends. */
		end() {
			const isCut =
				(position !== Infinity && position > total) ||
				rest.length > 0 ||
				parents.some(({ end }) => end !== Infinity && end > position);
			if (found.isOpen) found.mediaBytes += total;
			const seconds = found.duration / found.timescale;
			const { hasVideo, width, height } = found;
			const isWhole =
				elements > MAX_ELEMENTS ? undefined : !isDamaged && !isCut && format.isWhole(found);
			return {
				isWhole,
				hasVideo,
				...(seconds > 0 &&
					seconds < MAX_SECONDS && { seconds: Math.round(seconds * 1_000) / 1_000 }),
				...(width && height && { width, height }),
			};
		},
	};
}
