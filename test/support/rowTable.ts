import type { Condition, Filter, Row, Step } from '../../nodes/shared/engine/dataTable';
import type { FakeClock } from './fakeClock';

/** A table in memory that runs steps as `onTable` does, one after another. */
export interface RowTable {
	/** The rows that are visible, by their ID. */
	readonly rows: () => readonly Row[];
	/** The steps of each call so far. */
	readonly calls: (readonly Step[])[];
	readonly write: Write;
	/** The table of a process that may be killed, and that may run steps again after an error that passes. */
	readonly of: (process: Process) => Write;
	/** Changes rows as a person does. */
	readonly edit: (change: (row: Row) => Row | undefined) => void;
}

export type Write = (...steps: readonly Step[]) => Promise<readonly Row[]>;

interface Process {
	/** Where it is not, no step has an effect. */
	readonly isAlive: () => boolean;
	/** Whether the next call fails in passing: some of its steps run, and then all of them. */
	readonly repeats: () => boolean;
}

/**
 * A table whose steps take random times: an insert gets its IDs before its rows are visible, as in a transaction that commits
 * late, and each step sees what others have done since the last one.
 *
 * @param reusesIds Whether the ID of the last row comes again when it was removed, as n8n's tables have it on SQLite.
 */
export function rowTable(
	clock?: FakeClock,
	random: () => number = () => 0,
	reusesIds = false,
): RowTable {
	let lastId = 0;
	let rows: Row[] = [];
	const calls: (readonly Step[])[] = [];
	const pause = async () => {
		if (clock) await clock.sleep(random() * 200);
	};
	const table: RowTable = {
		rows: () => rows,
		calls,
		async write(...steps) {
			calls.push(steps);
			let found: readonly Row[] = [];
			for (const step of steps) found = await runStep(step);
			return found;
		},
		of({ isAlive, repeats }) {
			return async (...steps) => {
				const count = repeats() ? 1 + Math.floor(random() * steps.length) : 0;
				let found: readonly Row[] = [];
				for (const step of [...steps.slice(0, count), ...steps]) {
					if (!isAlive()) throw new Error('killed');
					found = await runStep(step);
				}
				if (!isAlive()) throw new Error('killed');
				return found;
			};
		},
		edit(change) {
			rows = rows.map(change).filter((row) => row !== undefined);
		},
	};
	async function runStep(step: Step): Promise<readonly Row[]> {
		if ('insert' in step) {
			if (step.insert.length === 0) return [];
			await pause();
			if (reusesIds) lastId = rows.length === 0 ? 0 : idOf(rows.at(-1)!);
			const added = step.insert.map((row) => ({ ...row, id: (lastId += 1) }));
			await pause();
			rows = [...rows, ...added].sort((one, other) => idOf(one) - idOf(other));
			await pause();
			return [];
		}
		await pause();
		const filter = 'find' in step ? step.find : 'set' in step ? step.where : undefined;
		const chosen = rows.filter(isMet(filter ?? ('remove' in step ? step.remove : { any: [] })));
		if ('find' in step) {
			await pause();
			return chosen.slice(0, step.limit).map((row) => ({ ...row }));
		}
		if ('remove' in step) rows = rows.filter((row) => !chosen.includes(row));
		if (!('set' in step)) return [];
		rows = rows.map((row) => (chosen.includes(row) ? { ...row, ...step.set } : row));
		await pause();
		return chosen.map((row) => ({ ...row, ...step.set }));
	}
	return table;
}

const idOf = (row: Row) => Number(row['id']);

function isMet(filter: Filter): (row: Row) => boolean {
	const meets = (row: Row) => (condition: Condition) => {
		const [column, kind, value] = condition;
		const cell = row[column] ?? '';
		if (kind === 'isEmpty') return cell === '';
		if (kind === 'isNotEmpty') return cell !== '';
		if (kind === 'eq') return cell === value;
		if (kind === 'gt') return cell > value;
		if (kind === 'gte') return cell >= value;
		if (kind === 'lt') return cell < value;
		if (kind === 'lte') return cell <= value;
		throw new Error(`The table has no condition ${kind}`);
	};
	return (row) => ('all' in filter ? filter.all.every(meets(row)) : filter.any.some(meets(row)));
}
