import { hash } from 'node:crypto';

/**
 * The parameters by which the big stores sign a URL, in lower case: a URL that has all of one row is a signed one. Amazon S3 and those
 * that speak its language, Google, CloudFront, Azure, Alibaba, Tencent, Huawei and Volcano.
 */
const SIGNATURES: readonly (readonly string[])[] = [
	['x-amz-signature'],
	['awsaccesskeyid', 'signature'],
	['x-goog-signature'],
	['googleaccessid', 'signature'],
	['key-pair-id', 'signature'],
	['sig', 'sv'],
	['x-oss-signature'],
	['ossaccesskeyid', 'signature'],
	['q-signature'],
	['x-obs-signature'],
	['accesskeyid', 'signature'],
	['x-tos-signature'],
];

/** A hash of what was entered. A signed URL counts by its path, as its signature differs each time; every other one as it is. */
export function hashOf(entered: unknown): string {
	return hash('sha256', JSON.stringify(entered, unsigned)).slice(0, 32);
}

function unsigned(_name: string, value: unknown): unknown {
	if (typeof value !== 'string' || !/^https?:/i.test(value) || !URL.canParse(value)) return value;
	const { origin, pathname, searchParams } = new URL(value);
	const names = new Set([...searchParams.keys()].map((name) => name.toLowerCase()));
	const isSigned = SIGNATURES.some((row) => row.every((name) => names.has(name)));
	return isSigned ? origin + pathname : value;
}
