import { extractKeywords } from './generation/words';
import type { KnowledgeRecord } from './apps';

/** Result of a knowledge base search (spec 2.6 `knowledge_base`); the first similarity is that of the best record, hit or not. */
export type Retrieval = ReturnType<typeof retrieve>;

const MIN_SIMILARITY = 0.4;
const MAX_HITS = 2;

/** Share of the question's keywords that a record contains; keywords in the title weigh more. */
function similarity(question: readonly string[], { title, text }: KnowledgeRecord): number {
	const titleWords = extractKeywords(title);
	const textWords = extractKeywords(text);
	const weights = question.map((word) =>
		titleWords.includes(word) ? 1 : textWords.includes(word) ? 0.6 : 0,
	);
	const sum = weights.reduce<number>((total, weight) => total + weight, 0);
	return Number((sum / Math.max(question.length, 1)).toFixed(2));
}

/** Keyword retrieval: the records of a knowledge base most similar to a question. */
export function retrieve(question: string, records: readonly KnowledgeRecord[]) {
	const words = [...new Set(extractKeywords(question))];
	const ranked = records
		.map((record) => ({ record, score: similarity(words, record) }))
		.sort((a, b) => b.score - a.score);
	return {
		hits: ranked
			.filter(({ score }) => score >= MIN_SIMILARITY)
			.slice(0, MAX_HITS)
			.map(({ record }) => record),
		firstSimilarity: ranked[0]?.score ?? 0,
	};
}
