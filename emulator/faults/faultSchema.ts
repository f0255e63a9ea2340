const TEXT = { type: 'string' };
const COUNT = { type: 'integer', minimum: 0 };
const STATUS = { type: 'integer', minimum: 200, maximum: 599 };
const OBJECT = { type: 'object' };
const PLACE = { afterEvents: COUNT, afterBytes: COUNT };

interface KindSchema {
	readonly required?: readonly string[];
	readonly properties?: Readonly<Record<string, object>>;
}

/** The fields of each kind of fault. */
const KINDS = {
	delay: { required: ['ms'], properties: { ms: COUNT } },
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
	resetBody: { properties: PLACE },
	cut: { properties: PLACE },
	stallBody: { properties: PLACE },
	split: { properties: { bytes: { type: 'integer', minimum: 1 } } },
	garbage: { properties: PLACE },
	insert: { required: ['text'], properties: { text: TEXT, ...PLACE } },
	errorEvent: { properties: { message: TEXT, ...PLACE } },
	missingDone: {},
	duplicate: { properties: { event: { type: 'integer', minimum: 1 } } },
	set: { required: ['fields'], properties: { fields: OBJECT } },
	contentType: { required: ['type'], properties: { type: TEXT } },
} as const satisfies Readonly<Record<string, KindSchema>>;

const TIMING = {
	path: TEXT,
	method: TEXT,
	contains: TEXT,
	skip: COUNT,
	count: { type: 'integer', minimum: 1 },
};

const FAULT = {
	type: 'object',
	required: ['kind'],
	discriminator: { propertyName: 'kind' },
	oneOf: Object.entries<KindSchema>(KINDS).map(([kind, { required = [], properties }]) => ({
		type: 'object',
		required,
		properties: { kind: { const: kind }, ...TIMING, ...properties },
		additionalProperties: false,
	})),
};

/** JSON schema of what the control interface takes: a list of faults. */
export const FAULTS_SCHEMA = { type: 'array', items: FAULT };
