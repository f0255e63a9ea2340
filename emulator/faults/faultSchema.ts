const TEXT = { type: 'string' };
const COUNT = { type: 'integer', minimum: 0 };
const STATUS = { type: 'integer', minimum: 200, maximum: 599 };
const OBJECT = { type: 'object' };
const POSITION = { afterEvents: COUNT, afterBytes: COUNT };

interface KindSchema {
	readonly required?: readonly string[];
	readonly properties?: Readonly<Record<string, object>>;
}

/** Fields of each kind of fault. */
const KINDS = {
	delay: { required: ['ms'], properties: { ms: COUNT } },
	hold: {},
	status: {
		required: ['status'],
		properties: {
			status: STATUS,
			body: {},
			headers: { type: 'object', additionalProperties: TEXT },
		},
	},
	rateLimit: {
		required: ['retryAfterSeconds'],
		properties: { retryAfterSeconds: COUNT, asDate: { type: 'boolean' } },
	},
	html: { properties: { status: STATUS } },
	redirect: { required: ['location'], properties: { location: TEXT, status: STATUS } },
	reset: {},
	stall: {},
	resetBody: { properties: POSITION },
	cut: { properties: POSITION },
	stallBody: { properties: POSITION },
	holdBody: {},
	split: { properties: { bytes: { type: 'integer', minimum: 1 } } },
	garbage: { properties: POSITION },
	insert: { required: ['text'], properties: { text: TEXT, ...POSITION } },
	errorEvent: { properties: { message: TEXT, ...POSITION } },
	missingDone: {},
	duplicate: { properties: { event: { type: 'integer', minimum: 1 } } },
	set: { required: ['fields'], properties: { fields: OBJECT } },
	contentType: { required: ['type'], properties: { type: TEXT } },
} as const satisfies Readonly<Record<string, KindSchema>>;

const SCHEDULE = {
	path: TEXT,
	method: TEXT,
	contains: TEXT,
	skip: COUNT,
	count: { type: 'integer', minimum: 1 },
};

/** JSON schema of a fault. */
export const FAULT_SCHEMA = {
	type: 'object',
	required: ['kind'],
	discriminator: { propertyName: 'kind' },
	oneOf: Object.entries<KindSchema>(KINDS).map(([kind, { required = [], properties }]) => ({
		type: 'object',
		required,
		properties: { kind: { const: kind }, ...SCHEDULE, ...properties },
		additionalProperties: false,
	})),
};

/** JSON schema of `POST /__emulator/faults`: a list of faults. */
export const FAULTS_SCHEMA = { type: 'array', items: FAULT_SCHEMA };
