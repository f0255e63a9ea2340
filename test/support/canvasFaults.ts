import { isInside, overlap, runsThrough, type Box, type Canvas } from './canvas';

/** A label must not get longer than this: n8n cuts the third line of a name. */
const MAX_LABEL_HEIGHT = 60;

/** What cannot be read on a canvas, or looks wrong: one sentence each. */
export function canvasFaults({
	nodes,
	labels,
	handles,
	notes,
	texts,
	wires,
}: Canvas): readonly string[] {
	const noteOf = (name: string) =>
		notes.find((note) =>
			isInside(
				nodes.find((node) => node.name === name)!,
				note,
			),
		)?.name;
	const pairs = (a: readonly Box[], b: readonly Box[], what: string) =>
		a.flatMap((first) =>
			b
				.filter(
					(second) =>
						first !== second && first.name !== second.name && overlap(first, second),
				)
				.map((second) => `${first.name}: ${what} ${second.name}`),
		);
	return [
		...pairs(nodes, nodes, 'the node overlaps the node'),
		...pairs(notes, notes, 'the note overlaps the note'),
		...pairs(nodes, texts, 'the node covers the text of'),
		...pairs(labels, nodes, 'the label overlaps the node'),
		...pairs(labels, labels, 'the label overlaps the label of'),
		...pairs(labels, texts, 'the label covers the text of'),
		...pairs(handles, [...nodes, ...labels], 'the label overlaps'),
		...labels
			.filter(({ top, bottom }) => bottom - top > MAX_LABEL_HEIGHT)
			.map(({ name }) => `${name}: the name is too long`),
		...texts
			.filter((text) => text.bottom > notes.find(({ name }) => name === text.name)!.bottom)
			.map(({ name }) => `${name}: the text is longer than the note`),
		...[...nodes, ...labels].flatMap((box) =>
			notes
				.filter((note) => overlap(box, note) && !isInside(box, note))
				.map(({ name }) => `${box.name}: crosses the edge of ${name}`),
		),
		...wires.flatMap((wire) => {
			const through = [
				...nodes,
				...labels,
				...texts,
				...handles.filter(
					({ node, output }) => node !== wire.from || output !== wire.output,
				),
				...notes.filter(
					({ name }) => name !== noteOf(wire.from) && name !== noteOf(wire.to),
				),
			].filter((box) => runsThrough(wire, box));
			return through.map(({ name }) => `${wire.from} → ${wire.to} runs through ${name}`);
		}),
	];
}
