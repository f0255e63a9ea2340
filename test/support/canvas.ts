import type { IConnections, INode } from 'n8n-workflow';

import type { Workflow } from '../../lab/n8n/workflow';

/** A rectangle on n8n's canvas, in its pixels. */
export interface Box {
	readonly name: string;
	readonly left: number;
	readonly top: number;
	readonly right: number;
	readonly bottom: number;
}

/** A wire as n8n draws it: a line through these points. */
export interface Wire {
	readonly from: string;
	readonly to: string;
	readonly output: number;
	readonly points: readonly (readonly [x: number, y: number])[];
}

/** A workflow as n8n 2.41 draws it. Sizes of texts are estimates, rather too large. */
export interface Canvas {
	readonly nodes: readonly Box[];
	/** The name and the subtitle below a node. */
	readonly labels: readonly Box[];
	/** The names of outputs and inputs, each named `node: output`. */
	readonly handles: readonly (Box & { readonly node: string; readonly output: number })[];
	readonly notes: readonly Box[];
	/** The text of a note, named like the note. */
	readonly texts: readonly Box[];
	readonly wires: readonly Wire[];
}

const NOTE = 'n8n-nodes-base.stickyNote';
const AGENT = 'functionCallingAgent';
/** Nodes with an input for sub-nodes, also where nothing is connected to it. */
const WITH_SUB_NODES = [AGENT, 'chatCompletion'];

/** What is left of a window of 1440 x 900 for the nodes and notes, measured in n8n 2.41.1. */
const FIT_VIEW = { width: 1166, height: 666 } as const;
/** n8n moves everything to this grid. */
const GRID = 16;
const NODE = 96;
const SUB_NODE = 80;
/** A node with inputs for sub-nodes, which has its name inside. */
const WIDE_NODE = 224;
/** Distance between two outputs. */
const OUTPUT_GAP = 32;
/** Distance from the edge of a node to the end of a wire. */
const HANDLE = 8;
/** Distances of the inputs for sub-nodes from the right edge. */
const INPUTS: Readonly<Record<string, number>> = { ai_languageModel: 184, ai_memory: 88 };
const LAST_INPUT = 40;
/** What n8n draws for an input of sub-nodes that has none: its name, a line and a plus. */
const EMPTY_INPUT = { width: 64, height: 88 } as const;

const LABEL = {
	gap: 7,
	line: 20,
	size: 16,
	subtitleGap: 4,
	subtitleLine: 16,
	subtitle: 168,
} as const;
const LABEL_WIDTH = { node: 192, subNode: 160 } as const;
const HANDLE_LABEL = { gap: 12, height: 12, size: 12 } as const;
const NOTE_TEXT = { margin: 13, top: 9, gap: 8, line: 19, size: 14 } as const;
/** Heights and sizes of a note's headings, by their number of `#`. */
const HEADINGS: Readonly<Record<number, { readonly line: number; readonly size: number }>> = {
	2: { line: 32, size: 24 },
	3: { line: 22, size: 17 },
};

/** A wire to a node on the left goes below its source by this much, and leaves and arrives by that much to the side. */
const BACK = { below: 130, aside: 40 } as const;
/** Number of points of a curve. */
const STEPS = 40;

/** Nodes without a second line below their name, whose text is not known here. */
const WITHOUT_SUBTITLE = /Trigger$|\.(?:code|dataTable|if|splitInBatches|stopAndError)$/;

/** Output names by operation or type of node, as far as the examples have nodes with several. */
const OUTPUTS: Readonly<Record<string, readonly string[]>> = {
	if: ['true', 'false'],
	splitInBatches: ['done', 'loop'],
	waitForVideo: ['Completed', 'Failed'],
};

/** Lays out a workflow. */
export function layOut({ nodes, connections }: Workflow): Canvas {
	const steps = nodes.filter(({ type }) => type !== NOTE);
	const notes = nodes.filter(({ type }) => type === NOTE);
	const kinds = new Map(steps.map(({ name }) => [name, Object.keys(connections[name] ?? {})]));
	const isSubNode = ({ name }: INode) => kinds.get(name)!.some((kind) => kind !== 'main');
	const links = Object.entries(connections as IConnections).flatMap(([from, byKind]) =>
		Object.entries(byKind).flatMap(([kind, outputs]) =>
			outputs.flatMap((targets, output) =>
				(targets ?? []).map(({ node }) => ({ from, to: node, kind, output })),
			),
		),
	);
	const hasSubNodes = ({ name, type }: INode) =>
		WITH_SUB_NODES.some((each) => type.endsWith(each)) ||
		links.some(({ to, kind }) => to === name && kind !== 'main');

	const boxOf = (node: INode): Box => {
		const outputs = outputsOf(node).length;
		const height = NODE + Math.max(0, outputs - 2) * OUTPUT_GAP;
		if (isSubNode(node)) return at(node, SUB_NODE, SUB_NODE);
		return at(node, hasSubNodes(node) ? WIDE_NODE : NODE, height);
	};
	const boxes = new Map(steps.map((node) => [node.name, boxOf(node)]));
	const byName = new Map(steps.map((node) => [node.name, node]));
	return {
		nodes: [...boxes.values()],
		labels: steps.flatMap((node) =>
			hasSubNodes(node) ? [] : [labelOf(node, boxes.get(node.name)!, isSubNode(node))],
		),
		handles: steps.flatMap((node) => [
			...outputLabels(node, boxes.get(node.name)!),
			...(hasSubNodes(node) &&
			!links.some(({ to, kind }) => to === node.name && kind !== 'main')
				? [emptyInput(boxes.get(node.name)!)]
				: []),
		]),
		notes: notes.map((note) =>
			at(note, Number(note.parameters['width']), Number(note.parameters['height'])),
		),
		texts: notes.map(textOf),
		wires: links.map(({ from, to, kind, output }) => {
			const [source, target] = [boxes.get(from)!, boxes.get(to)!];
			const points =
				kind === 'main'
					? mainWire(
							[
								source.right + HANDLE,
								outputY(source, outputsOf(byName.get(from)!).length, output),
							],
							[target.left - HANDLE, (target.top + target.bottom) / 2],
						)
					: subWire(source, target, kind);
			return { from, to, output, points };
		}),
	};
}

/** The zoom with which n8n first shows a workflow in a window of 1440 x 900, its side bar closed. */
export function fitViewZoom({ nodes, notes }: Canvas): number {
	const boxes = [...nodes, ...notes];
	const edge = (side: 'left' | 'top' | 'right' | 'bottom', best: 'min' | 'max') =>
		Math[best](...boxes.map((box) => box[side]));
	const width = edge('right', 'max') - edge('left', 'min');
	const height = edge('bottom', 'max') - edge('top', 'min');
	return Math.min(1, FIT_VIEW.width / width, FIT_VIEW.height / height);
}

/** Whether two rectangles overlap. */
export function overlap(a: Box, b: Box): boolean {
	return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}

/** Whether the first rectangle is inside the second one. */
export function isInside(a: Box, b: Box): boolean {
	return a.left >= b.left && a.right <= b.right && a.top >= b.top && a.bottom <= b.bottom;
}

/** Whether a wire runs through a rectangle. */
export function runsThrough({ points }: Wire, box: Box): boolean {
	return points.slice(1).some(([x2, y2], index) => {
		const [x1, y1] = points[index]!;
		// The pieces of a curve are short, and the others are horizontal or vertical.
		return overlap(
			{
				name: '',
				left: Math.min(x1, x2) - 1,
				right: Math.max(x1, x2) + 1,
				top: Math.min(y1, y2) - 1,
				bottom: Math.max(y1, y2) + 1,
			},
			box,
		);
	});
}

function at({ name, position: [x, y] }: INode, width: number, height: number): Box {
	const [left, top] = [x, y].map((value) => Math.round(value / GRID) * GRID) as [number, number];
	return { name, left, top, right: left + width, bottom: top + height };
}

function outputsOf({ type, parameters, onError }: INode): readonly string[] {
	const short = type.slice(type.lastIndexOf('.') + 1);
	if (short === AGENT) {
		const { tool } = parameters['tools'] as unknown as {
			readonly tool: readonly { readonly name: string }[];
		};
		return ['Answer', 'Stopped', ...tool.map(({ name }) => name)];
	}
	const outputs = OUTPUTS[String(parameters['operation'])] ?? OUTPUTS[short] ?? [''];
	return onError === 'continueErrorOutput' ? ['Success', 'Error'] : outputs;
}

const outputY = ({ top, bottom }: Box, count: number, output: number) =>
	(top + bottom) / 2 + (output - (count - 1) / 2) * OUTPUT_GAP;

function labelOf({ type }: INode, { name, left, right, bottom }: Box, isSubNode: boolean): Box {
	const width = isSubNode ? LABEL_WIDTH.subNode : LABEL_WIDTH.node;
	const { count, widest } = wrap(name, LABEL.size, width);
	const hasSubtitle = !WITHOUT_SUBTITLE.test(type);
	const half = Math.max(widest, hasSubtitle ? Math.min(LABEL.subtitle, width) : 0) / 2;
	const [center, top] = [(left + right) / 2, bottom + LABEL.gap];
	const height = count * LABEL.line + (hasSubtitle ? LABEL.subtitleGap + LABEL.subtitleLine : 0);
	return { name, left: center - half, right: center + half, top, bottom: top + height };
}

function outputLabels(node: INode, box: Box) {
	const outputs = outputsOf(node);
	return outputs.flatMap((text, output) => {
		if (text === '') return [];
		const y = outputY(box, outputs.length, output);
		const left = box.right + HANDLE_LABEL.gap;
		return [
			{
				name: `${node.name}: ${text}`,
				node: node.name,
				output,
				left,
				right: left + widthOf(text, HANDLE_LABEL.size),
				top: y - HANDLE_LABEL.height / 2,
				bottom: y + HANDLE_LABEL.height / 2,
			},
		];
	});
}

function emptyInput({ name, right, bottom }: Box) {
	const center = right - LAST_INPUT;
	return {
		name: `${name}: Tool Nodes`,
		node: name,
		output: -1,
		left: center - EMPTY_INPUT.width / 2,
		right: center + EMPTY_INPUT.width / 2,
		top: bottom,
		bottom: bottom + EMPTY_INPUT.height,
	};
}

/** The rectangle of a note's text. Its content is Markdown: headings, paragraphs and line breaks. */
function textOf(note: INode): Box {
	const width = Number(note.parameters['width']) - 2 * NOTE_TEXT.margin;
	const { name, left, top } = at(note, 0, 0);
	const text = String(note.parameters['content']);
	const height = text.split('\n').reduce<number>((sum, line) => {
		if (line === '') return sum;
		const [, marks = '', content = ''] = /^(#*) ?(.*)$/.exec(line)!;
		const heading = HEADINGS[marks.length];
		const { line: lineHeight, size } = heading ?? NOTE_TEXT;
		const { count } = wrap(content.replace(/\*+|`/g, ''), size, width);
		return sum + count * lineHeight + NOTE_TEXT.gap;
	}, NOTE_TEXT.top);
	return {
		name,
		left: left + NOTE_TEXT.margin,
		top: top + NOTE_TEXT.top,
		right: left + NOTE_TEXT.margin + width,
		bottom: top + height,
	};
}

/** Wraps a text between its words. */
function wrap(text: string, size: number, width: number): { count: number; widest: number } {
	const lines = text.split(' ').reduce<readonly string[]>((done, word) => {
		const last = done.at(-1);
		const longer = last === undefined ? word : `${last} ${word}`;
		return widthOf(longer, size) <= width ? [...done.slice(0, -1), longer] : [...done, word];
	}, []);
	return { count: lines.length, widest: Math.max(...lines.map((line) => widthOf(line, size))) };
}

/** Estimated width of a text in n8n's font (Inter). */
function widthOf(text: string, size: number): number {
	const widths = text.split('').map((character) => {
		if (/[ijl,tfr;I.:'|!()[\] ]/.test(character)) return 0.34;
		if (/[mwMW@]/.test(character)) return 0.92;
		return /[A-Z0-9]/.test(character) ? 0.7 : 0.59;
	});
	return size * widths.reduce((sum, width) => sum + width, 0);
}

type Point = readonly [x: number, y: number];

/** A curve to a node on the right. To a node on the left: to the side, below the source, back, and up to the target. */
function mainWire([x1, y1]: Point, [x2, y2]: Point): readonly Point[] {
	// n8n compares the handles, which are wider than the distance of the wire.
	if (x1 - 20 <= x2) {
		const middle = (x1 + x2) / 2;
		return curve([x1, y1], [middle, y1], [middle, y2], [x2, y2]);
	}
	const [right, low, left] = [x1 + BACK.aside, y1 + BACK.below, x2 - BACK.aside];
	return [
		[x1, y1],
		[right, y1],
		[right, low],
		[left, low],
		[left, y2],
		[x2, y2],
	];
}

/** A curve from the top of a sub-node to the bottom of its node. */
function subWire(source: Box, target: Box, kind: string): readonly Point[] {
	const [x1, y1] = [(source.left + source.right) / 2, source.top - HANDLE];
	const [x2, y2] = [target.right - (INPUTS[kind] ?? LAST_INPUT), target.bottom + HANDLE];
	const middle = (y1 + y2) / 2;
	return curve([x1, y1], [x1, middle], [x2, middle], [x2, y2]);
}

/** Points of a cubic Bézier curve. */
function curve(p0: Point, p1: Point, p2: Point, p3: Point): readonly Point[] {
	const value = (t: number, axis: 0 | 1) =>
		(1 - t) ** 3 * p0[axis] +
		3 * (1 - t) ** 2 * t * p1[axis] +
		3 * (1 - t) * t ** 2 * p2[axis] +
		t ** 3 * p3[axis];
	return Array.from({ length: STEPS + 1 }, (_, step) => [
		value(step / STEPS, 0),
		value(step / STEPS, 1),
	]);
}
