import { missing } from './context';

/** A message in LangChain. */
interface LangChainMessage {
	readonly content: unknown;
}

/** A piece of a reply in LangChain. */
export interface LangChainChunk {
	readonly text: string;
	readonly message: { content: unknown; readonly additional_kwargs: Record<string, unknown> };
	concat(next: LangChainChunk): LangChainChunk;
}

/** What n8n's SDK makes of a chat model, for LangChain. */
interface Adapter<Model> {
	readonly chatModel: Model;
	/** n8n's log. */
	readonly callbacks: readonly { readonly options?: object }[];
	readonly bindTools: (tools: unknown, settings?: object) => Adapter<Model>;
	/** This model with settings of its calls. */
	readonly withConfig: (settings: object) => Adapter<Model>;
	readonly _streamResponseChunks: (
		messages: readonly LangChainMessage[],
		...more: unknown[]
	) => AsyncIterable<LangChainChunk>;
}

/** What differs from n8n's SDK. */
export interface Changes<Model> {
	/** The content of a message for n8n's converter. */
	readonly contentOf: (content: unknown) => unknown;
	/** Changes a piece of a reply. */
	readonly change: (chunk: LangChainChunk) => void;
	/** A model that streams what this one generates, and the tokens that it has counted. */
	readonly whole: (model: Model) => { readonly model: Model; readonly usage: () => unknown };
	readonly estimateTokens: (texts: readonly unknown[]) => Promise<number>;
}

/**
 * Changes what n8n's SDK makes of a chat model: messages and pieces of a reply, streamed or not, and the tokens in n8n's log. Others
 * are estimated: LangChain downloads a tokenizer, and that of the log takes minutes for 64 kB without a word boundary.
 *
 * n8n 2.41.1, @n8n/ai-utilities/dist/cjs/adapters/langchain-chat-model.js
 * Without it: an agent or chain fails before the model is asked.
 */
export function adapt<Model>(adapter: unknown, changes: Changes<Model>): Adapter<Model> {
	const model = adapter as Adapter<Model>;
	const { chatModel, callbacks, bindTools, _streamResponseChunks: stream } = model;
	const parts: readonly unknown[] = [chatModel, callbacks, bindTools, stream];
	if (parts.includes(undefined)) throw missing('how its agents call a chat model');
	const { contentOf, change, whole, estimateTokens } = changes;

	async function* chunks(from: Model, ...[messages, ...more]: Parameters<typeof stream>) {
		const source = Object.create(model, { chatModel: { value: from } }) as typeof model;
		const sent = messages.map((message) => {
			const copy = Object.create(Object.getPrototypeOf(message) as object) as typeof message;
			return Object.assign(copy, message, { content: contentOf(message.content) });
		});
		for await (const chunk of stream.call(source, sent, ...more)) {
			change(chunk);
			yield chunk;
		}
	}

	const tokensUsageParser = (result: { llmOutput?: { tokenUsage?: object } }) =>
		result.llmOutput?.tokenUsage ?? { completionTokens: 0 };
	for (const callback of callbacks)
		Object.assign(callback, {
			estimateTokensFromStringList: estimateTokens,
			options: { ...callback.options, tokensUsageParser },
		});
	return Object.assign(model, {
		bindTools: (tools: unknown, settings?: object) => {
			const bound = adapt(bindTools.call(model, tools), changes);
			// n8n's SDK drops them. What has some is no model, to which an agent would bind its tools again.
			return settings ? bound.withConfig(settings) : bound;
		},
		getNumTokens: async (content: unknown) => await estimateTokens([content].flat()),
		_streamResponseChunks: (...sent: Parameters<typeof stream>) => chunks(chatModel, ...sent),
		_generate: async (...[messages, options]: Parameters<typeof stream>) => {
			const reply = whole(chatModel);
			let all: LangChainChunk | undefined;
			for await (const chunk of chunks(reply.model, messages, options))
				all = all?.concat(chunk) ?? chunk;
			return { generations: [all], llmOutput: { tokenUsage: reply.usage() } };
		},
	});
}
