/** File extension by media type. */
const EXTENSIONS: Readonly<Record<string, string>> = {
	'video/mp4': 'mp4',
	'video/webm': 'webm',
	'video/quicktime': 'mov',
	'image/jpeg': 'jpg',
	'image/png': 'png',
	'image/webp': 'webp',
	'image/gif': 'gif',
	'audio/mpeg': 'mp3',
	'audio/wav': 'wav',
	'application/pdf': 'pdf',
	'application/zip': 'zip',
	'application/json': 'json',
	'text/csv': 'csv',
	'text/plain': 'txt',
};

/** Media type by file extension; undefined where the extension is unknown. */
export function mimeTypeOf(name: string): string | undefined {
	const extension = /\.([a-z0-9]+)$/i.exec(name)?.[1]?.toLowerCase().replace('jpeg', 'jpg');
	return Object.keys(EXTENSIONS).find((type) => EXTENSIONS[type] === extension);
}

/**
 * A safe file name: path separators and reserved characters become hyphens, and a name without an extension gets that
 * of the media type.
 */
export function fileNameOf(wanted: string, mimeType: string): string {
	// eslint-disable-next-line no-control-regex -- the pattern removes control characters
	const name = wanted.replace(/[/\\:*?"<>|\u0000-\u001f]+/g, '-').replace(/^\.+/, '');
	const extension = EXTENSIONS[mimeType];
	if (extension === undefined || /\.[a-z0-9]{2,4}$/i.test(name)) return name;
	return `${name}.${extension}`;
}
