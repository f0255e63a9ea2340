/** Boxes that hold other boxes on the way to the ones with times in them. */
const CONTAINERS = ['moov', 'trak', 'mdia', 'minf', 'stbl'];

/** Where a version 0 box holds its time unit and its length (ISO/IEC 14496-12). */
const TIMED_BOXES: Readonly<
	Record<string, { readonly scale?: number; readonly duration: number }>
> = {
	mvhd: { scale: 20, duration: 24 },
	tkhd: { duration: 28 },
	mdhd: { scale: 20, duration: 24 },
};

/** Where `stts` holds the number of frames and the length of each, in its only entry. */
const FRAMES = { count: 16, length: 20 };

const UNITS_PER_SECOND = 1000;

function setTimes(file: Buffer, start: number, end: number, units: number): void {
	for (let box = start; box < end; box += file.readUInt32BE(box)) {
		const type = file.toString('latin1', box + 4, box + 8);
		if (CONTAINERS.includes(type)) setTimes(file, box + 8, box + file.readUInt32BE(box), units);

		const timed = TIMED_BOXES[type];
		if (timed) file.writeUInt32BE(units, box + timed.duration);
		if (timed?.scale !== undefined) file.writeUInt32BE(UNITS_PER_SECOND, box + timed.scale);
		if (type === 'stts') {
			const frames = file.readUInt32BE(box + FRAMES.count);
			file.writeUInt32BE(Math.round(units / frames), box + FRAMES.length);
		}
	}
}

/**
 * A copy of a clip that plays the same frames over another length of time.
 * For clips like those in `media/`: version 0 boxes, one track, frames of equal length.
 */
export function stretchMp4(clip: Buffer, seconds: number): Buffer {
	const file = Buffer.from(clip);
	setTimes(file, 0, file.length, seconds * UNITS_PER_SECOND);
	return file;
}
