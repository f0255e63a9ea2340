/** The endings of the media types that the service gives. */
const ENDINGS: Readonly<Record<string, string>> = {
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

/** The media type of a file by the ending of its name; `undefined` for an ending that says nothing. */
export function mimeTypeOf(name: string): string | undefined {
	const ending = /\.([a-z0-9]+)$/i.exec(name)?.[1]?.toLowerCase().replace('jpeg', 'jpg');
	return Object.keys(ENDINGS).find((type) => ENDINGS[type] === ending);
}

/**
 * A name for a file of this type: characters that lead out of a folder become hyphens, and a name without an ending
 * of letters and digits gets that of the type.
 */
export function fileNameOf(wanted: string, mimeType: string): string {
	// eslint-disable-next-line no-control-regex -- control characters are what it is about
	const name = wanted.replace(/[/\\:*?"<>|\u0000-\u001f]+/g, '-').replace(/^\.+/, '');
	const ending = ENDINGS[mimeType];
	if (ending === undefined || /\.[a-z0-9]{2,4}$/i.test(name)) return name;
	return `${name}.${ending}`;
}
