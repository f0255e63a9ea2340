import type { INode } from 'n8n-workflow';

import type { Copy } from './copyWorkflow';
import { readDrawing } from './drawing';
import type { Outcome } from './judge';
import { codesFor, isOwn, OWN } from './replacements';

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

/** An error of a model or an app, or of a value that another model may take; not that there is no code at all. */
const OF_CODE = /^(?!.*\bModel is empty)(?:.*\b(?:model|app)|.*\b(?:video|chat)-m\d)/is;

/** What to enter in a node that failed for a code that may be right in the account of the workflow; empty if it is another failure. */
function enterCode({ workflow, replaced }: Copy, name: string, error: string): string {
	const find = (is: (node: INode) => boolean) => workflow.nodes.find(is);
	const failed = find((node) => node.name === name);
	// The error of a chat model is one of its agent.
	const leadsTo = (from: string) => JSON.stringify(workflow.connections[from] ?? {});
	const isItsModel = (each: INode) =>
		each.type === `${OWN}agentVideoChatModel` && leadsTo(each.name).includes(`"${name}"`);
	const node = failed && isOwn(failed) ? failed : find(isItsModel);
	if (node === undefined || !OF_CODE.test(error)) return '';
	const { model, appCode } = node.parameters;
	const isReplaced = replaced.some((each) => each.node === node.name);
	const isExpression = JSON.stringify([model, appCode]).includes('"=');
	if (!isReplaced && !isExpression && !error.includes('App Code is empty')) return '';
	const codes = codesFor(node.type);
	const code = /\bapp/i.test(error) ? codes.app : codes.model;
	const which = isReplaced
		? `takes these values, other than ${code}`
		: `it knows, such as ${code}`;
	return ` The emulator has other codes: in "${node.name}" enter one that ${which}.`;
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
		const pin = enterCode(copy, failedAt, error) || pinBefore(copy, failedAt, error);
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
