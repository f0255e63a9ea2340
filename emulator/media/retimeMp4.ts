/** Container boxes that lead to the boxes with durations. */
const CONTAINERS = ['moov', 'trak', 'mdia', 'minf', 'stbl'];

/** Offsets of timescale and duration in version 0 boxes (ISO/IEC 14496-12). */
const TIMED_BOXES: Readonly<
	Record<string, { readonly scale?: number; readonly duration: number }>
> = {
	mvhd: { scale: 20, duration: 24 },
	tkhd: { duration: 28 },
	mdhd: { scale: 20, duration: 24 },
};

/** Offsets of sample count and sample delta in the only entry of `stts`. */
const STTS = { sampleCount: 16, sampleDelta: 20 };

const TIMESCALE = 1000;

function setTimes(file: Buffer, start: number, end: number, units: number): void {
	for (let box = start; box < end; box += file.readUInt32BE(box)) {
		const type = file.toString('latin1', box + 4, box + 8);
		if (CONTAINERS.includes(type)) setTimes(file, box + 8, box + file.readUInt32BE(box), units);

		const timed = TIMED_BOXES[type];
		if (timed) file.writeUInt32BE(units, box + timed.duration);
		if (timed?.scale !== undefined) file.writeUInt32BE(TIMESCALE, box + timed.scale);
		if (type === 'stts') {
			const frames = file.readUInt32BE(box + STTS.sampleCount);
			file.writeUInt32BE(Math.round(units / frames), box + STTS.sampleDelta);
		}
	}
}

/**
 * Changes the duration of an MP4 clip by changing its frame rate; returns a copy.
 * Only for clips like those in `mp4-fixtures.json`: version 0 boxes, one track, constant frame rate.
 */
export function retimeMp4(clip: Buffer, seconds: number): Buffer {
	const file = Buffer.from(clip);
	setTimes(file, 0, file.length, seconds * TIMESCALE);
	return file;
}
