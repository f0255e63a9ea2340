// cspell:disable -- bytes of files are no words
/** The first bytes of files, by media type, as encoders write them. */
const HEADS = {
	'video/mp4': '\0\0\0\x20ftypisom\0\0\x02\0isomiso2avc1mp41',
	'video/quicktime': '\0\0\0\x14ftypqt  \0\0\x02\0qt  ',
	'video/webm':
		'\x1aE\xdf\xa3\x01\0\0\0\0\0\0\x1fB\x86\x81\x01B\xf7\x81\x01B\xf2\x81\x04B\xf3\x81\x08B\x82\x84webm',
	'video/x-matroska':
		'\x1aE\xdf\xa3\x01\0\0\0\0\0\0#B\x86\x81\x01B\xf7\x81\x01B\xf2\x81\x04B\x82\x88matroska',
	'video/x-msvideo': 'RIFF\x24\x10\0\0AVI LIST',
	'image/jpeg': '\xff\xd8\xff\xe0\0\x10JFIF\0\x01',
	'image/png': '\x89PNG\r\n\x1a\n\0\0\0\rIHDR',
	'image/gif': 'GIF89a\x01\0\x01\0',
	'image/webp': 'RIFF\x24\x10\0\0WEBPVP8 ',
	'image/avif': '\0\0\0\x1cftypavif\0\0\0\0',
	'image/heic': '\0\0\0\x18ftypheic\0\0\0\0mif1heic',
	'image/bmp': 'BM\x36\x10\0\0\0\0\0\0\x36\0\0\0',
	'image/tiff': 'II*\0\x08\0\0\0',
	'image/svg+xml': '<?xml version="1.0"?>\n<svg xmlns="http://www.w3.org/2000/svg"/>',
	'audio/mpeg': 'ID3\x04\0\0\0\0\0\0',
	'audio/aac': '\xff\xf1P\x80',
	'audio/mp4': '\0\0\0\x20ftypM4A \0\0\0\0',
	'audio/wav': 'RIFF\x24\x10\0\0WAVEfmt ',
	'audio/ogg': `OggS\0\x02${'\0'.repeat(22)}\x01vorbis`,
	'audio/flac': 'fLaC\0\0\0"',
	'application/pdf': '%PDF-1.7\n%\xe2\xe3\xcf\xd3\n',
	'application/zip': 'PK\x03\x04\x14\0\0\0\x08\0',
} as const;

export type SampleType = keyof typeof HEADS;

/** Every media type that has a sample. */
export const SAMPLE_TYPES = Object.keys(HEADS) as SampleType[];

/** The last bytes of files whose end tells that they are whole. */
const ENDS: Partial<Record<SampleType, string>> = {
	'image/jpeg': '\xff\xd9',
	'image/png': '\0\0\0\0IEND\xaeB\x60\x82',
	'application/pdf': '%%EOF\n',
};

/** A file that starts and ends as files of this type do, with `rest` in between. */
export function sampleFile(type: SampleType, rest: string | Buffer = ''): Buffer {
	const [head, end] = [HEADS[type], ENDS[type] ?? ''].map((part) => Buffer.from(part, 'latin1'));
	return Buffer.concat([head!, Buffer.from(rest as string), end!]);
}
