/** Record of a knowledge base. */
export interface KnowledgeRecord {
	readonly title: string;
	readonly text: string;
}

/** Target of `app_code`: an application, workflow or super assistant (spec 1, 2.1). */
export interface App {
	readonly code: string;
	readonly kind: 'application' | 'workflow' | 'assistant';
	/** `rateLimited` responds with 429 at first (spec 7.1). */
	readonly access: 'public' | 'rateLimited';
	/** Name of the account that created it, if no other may call it: 403 for all others (spec 5). */
	readonly onlyFor?: string;
	/** Default model; for an assistant the primary model, which a request cannot change. */
	readonly model: string;
	/** System prompt. */
	readonly setting: string;
	readonly temperature: number;
	/** Thinking configuration per model; the request overrides it. */
	readonly thinking: Readonly<Record<string, 'enabled' | 'disabled'>>;
	readonly knowledge: readonly KnowledgeRecord[];
	readonly suggestsQuestions: boolean;
	/** Names of plugins (applications, workflows) or skills (assistants). */
	readonly plugins: readonly string[];
	/** Code of the super assistant in the agent node of a workflow (spec 9). */
	readonly assistant?: string;
}

const PLAIN = {
	access: 'public',
	model: 'chat-m2',
	setting: 'You are a helpful assistant.',
	temperature: 0.5,
	thinking: {},
	knowledge: [],
	suggestsQuestions: false,
	plugins: [],
} as const satisfies Partial<App>;

const STUDIO_KNOWLEDGE: readonly KnowledgeRecord[] = [
	{
		title: 'Aspect ratio',
		text: 'Use the aspect ratio 16:9 for landscape screens, 9:16 for phones and 1:1 for feeds.',
	},
	{
		title: 'Video prompts',
		text: 'A good video prompt names the subject, its movement, the camera, the light and the mood.',
	},
	{
		title: 'Waiting for a video',
		text: 'Generating a video takes 30 seconds to several minutes; poll its status every 5 to 10 seconds.',
	},
	{
		title: 'Reference images',
		text: 'Reference images must be public URLs; in first/last frame mode their order matters.',
	},
	{
		title: 'Camera movement',
		text: 'Name one camera movement for each shot: a pan, a push-in, a tracking shot or a crane shot.',
	},
	{
		title: 'The forbidden-knowledge record',
		text: 'This record contains the forbidden-word, so that moderation rejects requests that retrieve it.',
	},
];

/** All applications, workflows and super assistants of the emulator. */
export const APPS: readonly App[] = [
	{
		...PLAIN,
		code: 'demo-app',
		kind: 'application',
		model: 'chat-m1',
		setting: 'You are the friendly guide of a small video studio. Answer briefly.',
		temperature: 0.3,
		thinking: { 'chat-m1': 'disabled' },
		knowledge: STUDIO_KNOWLEDGE,
		suggestsQuestions: true,
		plugins: ['image_recognition', 'image_editing', 'image_generation', 'file_writer'],
	},
	{ ...PLAIN, code: 'demo-workflow', kind: 'workflow', plugins: ['image_recognition'] },
	{ ...PLAIN, code: 'assistant-workflow', kind: 'workflow', assistant: 'demo-assistant' },
	{
		...PLAIN,
		code: 'demo-assistant',
		kind: 'assistant',
		model: 'chat-m1',
		plugins: [
			'calculator',
			'clock',
			'web_search',
			'image_generation',
			'video_generation',
			'deep_research',
		],
	},
	{ ...PLAIN, code: 'private-app', kind: 'application', onlyFor: 'creator' },
	{ ...PLAIN, code: 'busy-app', kind: 'application', access: 'rateLimited' },
];
