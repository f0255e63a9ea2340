import type { Copy } from './copyWorkflow';
import { readDrawing } from './drawing';
import type { Outcome } from './judge';
import { isOwn } from './replacements';

const quote = (names: readonly string[]) => names.map((name) => `"${name}"`).join(', ');

/** Code that needs what the rehearsal does not give: the machine, a module. */
const NEEDS_MORE = /The rehearsal rejects|is disallowed|Cannot find module/;

/** What to pin data to, so that a node gets what it gets in the workflow; empty if nothing before it is made up. */
function pinBefore({ workflow, madeUp, replaced }: Copy, name: string, error = ''): string {
	const node = workflow.nodes.find((each) => each.name === name);
	if (NEEDS_MORE.test(error) && node && !isOwn(node)) return ` Pin data to "${name}".`;
	const sources = readDrawing(workflow).sources(name, madeUp);
	if (sources.length === 0) return '';
	const isStub = (source: string) =>
		replaced.some(({ node: stubbed, by }) => stubbed === source && by.endsWith('{}'));
	const stubs = sources.filter(isStub);
	const gave =
		stubs.length > 0 ? `{} from ${quote(stubs)}` : `made-up data from ${quote(sources)}`;
	return ` It got ${gave}: pin data to ${stubs.length === 1 || sources.length === 1 ? 'it' : 'them'}.`;
}

/**
 * Why the normal run of a copy says nothing of what happens in other scenarios; undefined if it does, or if it has shown
 * that the workflow itself is wrong.
 */
export function whyNotJudged(copy: Copy, normal: Outcome): string | undefined {
	const { endless, isGreen, ran, error, failedAt } = normal;
	if (endless !== '') {
		const loop = readDrawing(copy.workflow).loop(endless);
		const inLoop = copy.madeUp.filter((name) => loop.includes(name));
		const pin =
			inLoop.length > 0
				? ` ${quote(inLoop)} gives {}: pin data to it.`.replace(` "${endless}" `, ' It ')
				: pinBefore(copy, endless);
		return pin === '' ? undefined : `"${endless}" runs again and again.${pin}`;
	}
	if (!isGreen) {
		const pin = pinBefore(copy, failedAt, error);
		return pin ? `${error}.${pin}`.replace('..', '.') : undefined;
	}
	const own = copy.workflow.nodes.filter((node) => isOwn(node) && node.disabled !== true);
	if (own.some(({ name }) => ran.includes(name))) return undefined;
	const drawing = readDrawing(copy.workflow);
	const ends = own.flatMap(({ name }) => drawing.ends(name, (each) => ran.includes(each)));
	const [end = ''] = ends;
	return `No node of this package ran: the way ends at "${end}".${pinBefore(copy, end)}`;
}

/** Nodes of this package that the normal run did not reach, and why. */
export function describeUnreached(copy: Copy, { ran }: Outcome): string {
	const drawing = readDrawing(copy.workflow);
	const [trigger] = copy.starts.slice(-1);
	const missed = copy.workflow.nodes.filter(
		(node) =>
			isOwn(node) &&
			node.disabled !== true &&
			!ran.includes(node.name) &&
			drawing.behind(trigger!.node.name).includes(node.name),
	);
	return missed
		.flatMap(({ name }) => {
			const [end] = drawing.ends(name, (each) => ran.includes(each));
			const pin = end === undefined ? '' : pinBefore(copy, end);
			return pin ? [` "${name}" did not run: the way ends at "${end}".${pin}`] : [];
		})
		.join('');
}
