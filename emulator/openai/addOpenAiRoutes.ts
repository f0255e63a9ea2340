import type { FastifyInstance } from 'fastify';

import { countTokens, loadTokenizer } from '../chat/countTokens';
import { EMULATED_CHAT_MODELS } from '../chat/models';
import { extractKeywords } from '../chat/generation/words';
import { chance } from '../random';
import EMBEDDING_SCHEMA from './embeddingSchema.json';

const DIMENSIONS = 1536;

interface EmbeddingBody {
	/** One text or several, each as it is or as a list of tokens. */
	readonly input: string | readonly (string | number | readonly number[])[];
	readonly model?: string;
	readonly dimensions?: number;
	readonly encoding_format?: string;
}

/** Unit vector of a text: texts that share words are close to each other, and the same text has the same vector. */
function embed(text: string, dimensions: number): Float32Array {
	const vector = new Float32Array(dimensions);
	for (const word of extractKeywords(text).slice(0, 2_000)) {
		const place = Math.floor(chance('place', word) * dimensions);
		vector[place]! += chance('sign', word) < 0.5 ? 1 : -1;
	}
	const length = Math.hypot(...vector);
	if (length === 0) vector[0] = 1;
	return vector.map((value) => value / (length || 1));
}

/** Models and embeddings of the third-party schema, which the service does not have. */
export function addOpenAiRoutes(server: FastifyInstance): void {
	const modelOf = (id: string) => ({ id, object: 'model', created: 0, owned_by: 'emulator' });
	server.get('/v1/models', async () => ({
		object: 'list',
		data: EMULATED_CHAT_MODELS.map(({ code }) => modelOf(code)),
	}));
	// Any model is accepted.
	server.get<{ Params: { id: string } }>('/v1/models/:id', async ({ params }) =>
		modelOf(params.id),
	);
	server.post<{ Body: EmbeddingBody }>(
		'/v1/embeddings',
		{ schema: { body: EMBEDDING_SCHEMA } },
		async ({ body: { input, model = 'embedding', dimensions = DIMENSIONS, ...rest } }) => {
			const isOne = typeof input === 'string' || typeof input[0] === 'number';
			const texts = (isOne ? [input] : input).map(String);
			await loadTokenizer();
			const tokens = texts.reduce((sum, text) => sum + countTokens(text), 0);
			return {
				object: 'list',
				model,
				data: texts.map((text, index) => {
					const vector = embed(text, dimensions);
					const embedding =
						rest.encoding_format === 'base64'
							? Buffer.from(vector.buffer).toString('base64')
							: [...vector];
					return { object: 'embedding', index, embedding };
				}),
				usage: { prompt_tokens: tokens, total_tokens: tokens },
			};
		},
	);
}
