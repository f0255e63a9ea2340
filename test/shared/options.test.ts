import type { IExecuteFunctions } from 'n8n-workflow';

import { InputError } from '../../nodes/client/errors';
import {
	choice as choiceOf,
	form,
	number,
	toggle,
	trimmed,
	type Declared,
} from '../../nodes/shared/form/form';

/** A context whose Options collection has this value. */
function contextWith(value: unknown): IExecuteFunctions {
	return {
		getNodeParameter: (_name: string, _item: number, fallback: unknown) =>
			value === undefined ? fallback : value,
	} as unknown as IExecuteFunctions;
}

/** The field as a form has it. */
function inForm<T>(field: Declared<T>) {
	return form({ field }).fields.field;
}

const seconds = inForm(
	number('Timeout', {
		unit: 'Seconds',
		help: 'Idle timeout',
		default: 60,
		min: 0.5,
		max: 100,
	}),
);
const count = inForm(
	number('Retries', {
		help: 'How often',
		default: 2,
		min: 0,
		integer: true,
	}),
);

test('a number option has its bounds in the form', () => {
	expect(seconds.properties[0]).toMatchObject({
		displayName: 'Timeout (Seconds)',
		type: 'number',
		default: 60,
		typeOptions: { minValue: 0.5, maxValue: 100 },
	});
	expect(count.properties[0]!.typeOptions).toStrictEqual({ minValue: 0, numberPrecision: 0 });
});

test.each([undefined, null, '', ' '])('%j means the default', (value) => {
	expect(seconds.read(contextWith(value), 0)).toBe(60);
});

test.each([0.5, 100, '7'])('%j is read as a number', (value) => {
	expect(seconds.read(contextWith(value), 0)).toBe(Number(value));
});

test.each([
	['abc', seconds, 'Timeout is abc', 'Enter a number from 0.5 to 100, e.g. 60'],
	[NaN, seconds, 'Timeout is NaN', 'Enter a number from 0.5 to 100, e.g. 60'],
	[0, seconds, 'Timeout is 0', 'Enter a number from 0.5 to 100, e.g. 60'],
	[101, seconds, 'Timeout is 101', 'Enter a number from 0.5 to 100, e.g. 60'],
	[Infinity, seconds, 'Timeout is Infinity', 'Enter a number from 0.5 to 100, e.g. 60'],
	[[], seconds, 'Timeout is []', 'Enter a number from 0.5 to 100, e.g. 60'],
	[-1, count, 'Retries is -1', 'Enter a whole number of at least 0, e.g. 2'],
	[1.5, count, 'Retries is 1.5', 'Enter a whole number of at least 0, e.g. 2'],
] as const)('%s is rejected by name', (value, option, message, hint) => {
	const read = () => option.read(contextWith(value), 0);
	expect(read).toThrow(InputError);
	expect(read).toThrow(expect.objectContaining({ message, hint }) as Error);
});

const choice = inForm(
	choiceOf<'a' | 'b'>('Mode', {
		help: 'Which one',
		default: 'a',
		choices: [
			['First', 'a'],
			['Second', 'b'],
		],
	}),
);

test('a choice is one of its values, and the default where it is empty', () => {
	expect(choice.read(contextWith('b'), 0)).toBe('b');
	expect(choice.read(contextWith(null), 0)).toBe('a');
	expect(() => choice.read(contextWith('c'), 0)).toThrow(
		expect.objectContaining({
			message: 'Mode is c',
			hint: 'Choose one of: a, b',
		}) as Error,
	);
});

test('a switch is on or off, also as text or a number, and anything else is an error', () => {
	const option = inForm(toggle('On', { help: 'Whether it is on' }));
	const values = [true, 'TRUE', ' true ', 1, '1', false, 'FALSE', 0, '', undefined];
	expect(values.map((value) => option.read(contextWith(value), 0))).toEqual([
		...Array<boolean>(5).fill(true),
		...Array<boolean>(5).fill(false),
	]);
	expect(() => option.read(contextWith('yes'), 0)).toThrow(
		expect.objectContaining({ message: 'On is yes', hint: 'Enter true or false' }) as Error,
	);
});

test('a text is trimmed, and an empty one means its default, but not that of an expression', () => {
	const name = inForm(trimmed('Name', { default: 'media' }));
	expect(name.read(contextWith(' x '), 0)).toBe('x');
	expect(name.read(contextWith('  '), 0)).toBe('media');
	const key = inForm(trimmed('Key', { default: '={{ $json.id }}' }));
	expect(key.read(contextWith(undefined), 0)).toBe('');
});
