/** A table of states: what each event makes of each. */
type States = Readonly<Record<string, { readonly events: Readonly<Record<string, string>> }>>;

/** A table of states as a Mermaid diagram. The state `none` is its start and its end. */
export function stateDiagram(states: States): string {
	const name = (state: string) => (state === 'none' ? '[*]' : state);
	const arrows = Object.entries(states).flatMap(([state, { events }]) =>
		Object.entries(events).map(([event, to]) => `  ${name(state)} --> ${name(to)}: ${event}`),
	);
	return ['```mermaid', 'stateDiagram-v2', ...arrows, '```'].join('\n');
}
