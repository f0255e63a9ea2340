/** How a reply ended: as a whole, at a maximum length, at a filter, by a failure, or for a reason that nobody lists. */
export type End = 'whole' | 'length' | 'filter' | 'failure' | 'unknown';

/** What a finish reason says (spec 3.2), also those of other servers. Some end a reply with `stop` or nothing whatever is in it. */
const REASONS: Readonly<Record<Exclude<End, 'unknown'>, readonly unknown[]>> = {
	whole: [undefined, null, '', 'stop', 'tool_calls', 'function_call', 'end_turn', 'eos'],
	length: ['length', 'max_tokens'],
	filter: ['content_filter', 'sensitive'],
	failure: ['error', 'network_error', 'insufficient_system_resource'],
};
const ENDS = new Map(
	Object.entries(REASONS).flatMap(([end, reasons]) => reasons.map((each) => [each, end as End])),
);

/** How a reply with this finish reason ended. Only one that ended as a whole has tool calls that can be run. */
export function endOf(finishReason: unknown): End {
	return ENDS.get(finishReason) ?? 'unknown';
}
