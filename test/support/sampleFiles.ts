// cspell:disable -- bytes of files are no words
const latin1 = (text: string) => Buffer.from(text, 'latin1');

function uint32(value: number): Buffer {
	const bytes = Buffer.alloc(4);
	bytes.writeUInt32BE(value);
	return bytes;
}

/** A box of MP4, with its size. */
function box(type: string, ...content: readonly (Buffer | string)[]): Buffer {
	const body = Buffer.concat(content.map((each) => Buffer.from(each as string, 'latin1')));
	return Buffer.concat([uint32(body.length + 8), latin1(type), body]);
}

/** The index of an MP4 file of 2 seconds with one track: a video of 640 to 360 pixels, or sound. */
function movieBox(kind: 'vide' | 'soun'): Buffer {
	const mvhd = box('mvhd', uint32(0), uint32(0), uint32(0), uint32(1_000), uint32(2_000));
	const tkhd = box('tkhd', Buffer.alloc(76), uint32(640 << 16), uint32(360 << 16));
	const hdlr = box('hdlr', uint32(0), uint32(0), kind);
	return box('moov', mvhd, box('trak', tkhd, box('mdia', hdlr)));
}

/** An element of WebM, with its size in four bytes. */
function element(id: string, ...content: readonly Buffer[]): Buffer {
	const body = Buffer.concat(content);
	return Buffer.concat([latin1(id), uint32(0x10000000 + body.length), body]);
}

/** A WebM or Matroska file with a video track. */
function webm(docType: string, media: Buffer): Buffer {
	const header = element('\x1aE\xdf\xa3', element('B\x82', latin1(docType)));
	const tracks = element('\x16T\xaek', element('\xae', element('\x83', latin1('\x01'))));
	return Buffer.concat([header, element('\x18S\x80g', tracks, element('\x1fC\xb6u', media))]);
}

/** A chunk of a RIFF file, with its size; its length is even. */
function chunk(id: string, type: string, content: Buffer): Buffer {
	const size = Buffer.alloc(4);
	const body = Buffer.concat([latin1(type), content, Buffer.alloc(content.length % 2)]);
	size.writeUInt32LE(type.length + content.length);
	return Buffer.concat([latin1(id), size, body]);
}

/** An image of HEIF with this brand. */
const heif = (brand: string) => (rest: Buffer) =>
	Buffer.concat([box('ftyp', `${brand}\0\0\0\0mif1${brand}`), box('mdat', rest)]);

const ISOM = box('ftyp', 'isom\0\0\x02\0isomiso2avc1mp41');

/** The beginning of an MP4 file of this size, whose rest is any bytes. */
export function videoHead(bytes: number): Buffer {
	const index = Buffer.concat([ISOM, movieBox('vide')]);
	return Buffer.concat([index, uint32(Math.max(0, bytes - index.length)), latin1('mdat')]);
}

/** Files that are whole, by media type, as encoders write them. */
const FILES = {
	'video/mp4': (rest: Buffer) =>
		Buffer.concat([videoHead(videoHead(0).length + rest.length), rest]),
	'video/quicktime': (rest: Buffer) =>
		Buffer.concat([box('ftyp', 'qt  \0\0\x02\0qt  '), box('mdat', rest), movieBox('vide')]),
	'video/webm': (rest: Buffer) => webm('webm', rest),
	'video/x-matroska': (rest: Buffer) => webm('matroska', rest),
	'video/x-msvideo': (rest: Buffer) => chunk('RIFF', 'AVI ', chunk('LIST', 'movi', rest)),
	'image/jpeg': '\xff\xd8\xff\xe0\0\x10JFIF\0\x01',
	'image/png': '\x89PNG\r\n\x1a\n\0\0\0\rIHDR',
	'image/gif': 'GIF89a\x01\0\x01\0',
	'image/webp': (rest: Buffer) => chunk('RIFF', 'WEBP', chunk('VP8 ', '', rest)),
	'image/avif': heif('avif'),
	'image/heic': heif('heic'),
	'image/bmp': 'BM\x36\x10\0\0\0\0\0\0\x36\0\0\0',
	'image/tiff': 'II*\0\x08\0\0\0',
	'image/svg+xml': '<?xml version="1.0"?>\n<svg xmlns="http://www.w3.org/2000/svg"/>',
	'audio/mpeg': 'ID3\x04\0\0\0\0\0\0',
	'audio/aac': '\xff\xf1P\x80',
	'audio/mp4': (rest: Buffer) =>
		Buffer.concat([box('ftyp', 'M4A \0\0\0\0'), movieBox('soun'), box('mdat', rest)]),
	'audio/wav': 'RIFF\x24\x10\0\0WAVEfmt ',
	'audio/ogg': `OggS\0\x02${'\0'.repeat(22)}\x01vorbis`,
	'audio/flac': 'fLaC\0\0\0"',
	'application/pdf': '%PDF-1.7\n%\xe2\xe3\xcf\xd3\n',
	'application/zip': 'PK\x03\x04\x14\0\0\0\x08\0',
} as const;

export type SampleType = keyof typeof FILES;

/** Every media type that has a sample. */
export const SAMPLE_TYPES = Object.keys(FILES) as SampleType[];

/** The last bytes of files whose end tells that they are whole. */
const ENDS: Partial<Record<SampleType, string>> = {
	'image/jpeg': '\xff\xd9',
	'image/png': '\0\0\0\0IEND\xaeB\x60\x82',
	'application/pdf': '%%EOF\n',
};

/** A whole file of this type with `rest` in it. Players show nothing of it. */
export function sampleFile(type: SampleType, rest: string | Buffer = 'frames'): Buffer {
	const media = Buffer.from(rest as string);
	const file = FILES[type];
	if (typeof file === 'function') return file(media);
	return Buffer.concat([latin1(file), media, latin1(ENDS[type] ?? '')]);
}
