// cspell:ignore faststart mdat mfra moof movi msvideo
import { walkContainer } from '../../nodes/shared/files/container';
import { PICTURES, SOUNDS, VIDEOS, video, type MediaFile } from '../support/mediaFiles';
import { sampleFile } from '../support/sampleFiles';
import { seededRandom } from '../support/seededRandom';

/** The beginning, in hex, of `moof`, `mfra`, a cluster, or a block of one. */
const PART = /^(.{8}(6d6f6f66|6d667261)|1f43b675|a3)/;

/** What a walk says about a file that arrives in pieces of this size. */
function walk(type: string, file: Buffer, pieceBytes = Infinity) {
	const walked = walkContainer(type)!;
	for (let at = 0; at < file.length; at += pieceBytes)
		walked.push(file.subarray(at, Math.min(file.length, at + pieceBytes)));
	return walked.end();
}

describe.each(VIDEOS)('$name', ({ type, bytes, isClosed, facts }) => {
	test.each([1, 7, 1_000, Infinity])('in pieces of %d bytes is known', (pieceBytes) => {
		const isWhole = isClosed ? true : undefined;
		expect(walk(type, bytes, pieceBytes)).toStrictEqual({ isWhole, hasVideo: true, ...facts });
	});

	test('is whole at no earlier end, and can be cut unseen only before a part of a container without an end', () => {
		const walks = Array.from(bytes.keys(), (end) => walk(type, bytes.subarray(0, end)).isWhole);
		expect(walks).not.toContain(true);
		const nextParts = walks.flatMap((isWhole, end) =>
			isWhole === undefined ? [bytes.toString('hex', end, end + 8)] : [],
		);
		for (const next of nextParts) expect(next).toMatch(PART);
	});
});

test.each(SOUNDS)('$name has no video', ({ type, bytes }) => {
	expect(walk(type, bytes)).toMatchObject({ isWhole: true, hasVideo: false });
});

test.each(PICTURES)('$name is cut, or whole', ({ type, bytes }) => {
	expect(walk(type, bytes)).toStrictEqual({ isWhole: true, hasVideo: undefined });
	expect(walk(type, bytes.subarray(0, -1)).isWhole).toBe(false);
});

test('of 2,000 corrupted copies none that is cut counts as whole', () => {
	const random = seededRandom(1);
	const below = (count: number) => Math.floor(random() * count);
	const any = () => VIDEOS[below(VIDEOS.length)]!;
	const cut = ({ bytes }: MediaFile) => bytes.subarray(0, 1 + below(bytes.length - 1));
	const corruptions: Record<string, (file: MediaFile) => Buffer> = {
		cut,
		'cut, with a byte changed': (file) => {
			const copy = Buffer.from(cut(file));
			copy[below(Math.min(64, copy.length))] = below(256);
			return copy;
		},
		'cut, with another file behind': (file) => Buffer.concat([cut(file), any().bytes]),
		'behind another file, cut': (file) => Buffer.concat([any().bytes, cut(file)]),
	};
	const kinds = Object.entries(corruptions);
	const taken = Array.from({ length: 2_000 }, (_, index) => {
		const file = VIDEOS[index % VIDEOS.length]!;
		const [kind, corrupt] = kinds[below(kinds.length)]!;
		const copy = corrupt(file);
		return walk(file.type, copy).isWhole === true ? `${file.name} ${kind}: ${copy.length}` : '';
	});
	expect(taken.filter((each) => each !== '')).toStrictEqual([]);
});

test('bytes changed anywhere throw no error', () => {
	const random = seededRandom(2);
	for (const { type, bytes } of VIDEOS) {
		for (let copies = 0; copies < 300; copies++) {
			const copy = Buffer.from(bytes);
			for (let changes = 0; changes < 5; changes++)
				copy[Math.floor(random() * copy.length)] = Math.floor(random() * 256);
			expect(() => walk(type, copy, 500)).not.toThrow();
		}
	}
});

test('an index that lists more bytes than there are is cut, also where the size of the media is not stated', () => {
	const { bytes } = video('faststart.mp4');
	const at = bytes.indexOf('mdat') - 4;
	const open = Buffer.from(bytes);
	open.writeUInt32BE(0, at);
	expect(walk('video/mp4', open).isWhole).toBe(true);
	expect(walk('video/mp4', open.subarray(0, -1)).isWhole).toBe(false);
});

test('an index beside no media is no video, in one part or in fragments', () => {
	const empty = sampleFile('video/mp4', '');
	expect(empty.includes('mdat')).toBe(true);
	expect(walk('video/mp4', empty).isWhole).toBe(false);
	const fragment = Buffer.from('\0\0\0\x08moof\0\0\0\x08mdat', 'latin1');
	expect(walk('video/mp4', Buffer.concat([empty, fragment])).isWhole).toBe(false);
});

test.each([
	['video/x-msvideo', 'RIFF\x04\0\0\0AVI '],
	['video/x-msvideo', 'RIFF\x10\0\0\0AVI LIST\x04\0\0\0movi'],
	['image/webp', 'RIFF\x04\0\0\0WEBP'],
])('%s without media is no such file: %j', (type, bytes) => {
	expect(walk(type, Buffer.from(bytes, 'latin1')).isWhole).toBe(false);
});

test('a size of 64 bits is a size, and zeros at the end of a file fill it up', () => {
	const whole = sampleFile('video/mp4', 'frames');
	const at = whole.length - 'frames'.length - 8;
	const large = Buffer.from('\0\0\0\x01mdat\0\0\0\0\0\0\0\x16frames', 'latin1');
	const file = Buffer.concat([whole.subarray(0, at), large]);
	expect(walk('video/mp4', file).isWhole).toBe(true);
	expect(walk('video/mp4', file.subarray(0, -1)).isWhole).toBe(false);
	expect(walk('video/mp4', Buffer.concat([file, Buffer.alloc(50)])).isWhole).toBe(true);
});

test('a file of a million empty elements is not walked to its end', () => {
	const boxes = Buffer.from('\0\0\0\x08free'.repeat(1_000_001), 'latin1');
	expect(walk('video/mp4', boxes, 65_536).isWhole).toBeUndefined();
});

test('a name of a property of objects is no type', () => {
	expect(walkContainer('constructor')).toBeUndefined();
});
