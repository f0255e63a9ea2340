import { wordsOf } from './brain/wordsOf';
import type { KnowledgeRecord } from './apps';

/** What a search in a knowledge base found (spec 2.6 `knowledge_base`). */
export interface Retrieval {
	readonly hits: readonly KnowledgeRecord[];
	/** How near the best record is, 0 to 1, hit or not. */
	readonly firstSimilarity: number;
}

const NEAR_ENOUGH = 0.4;
const MOST_HITS = 2;

/** How much of the question a record covers; its title says most. */
function similarity(question: readonly string[], { title, text }: KnowledgeRecord): number {
	const titleWords = wordsOf(title);
	const textWords = wordsOf(text);
	const weights = question.map((word) =>
		titleWords.includes(word) ? 1 : textWords.includes(word) ? 0.6 : 0,
	);
	const sum = weights.reduce<number>((total, weight) => total + weight, 0);
	return question.length === 0 ? 0 : Number((sum / question.length).toFixed(2));
}

/** Searches a knowledge base for records near a question. */
export function retrieve(question: string, records: readonly KnowledgeRecord[]): Retrieval {
	const words = [...new Set(wordsOf(question))];
	const ranked = records
		.map((record) => ({ record, score: similarity(words, record) }))
		.sort((a, b) => b.score - a.score);
	return {
		hits: ranked
			.filter(({ score }) => score >= NEAR_ENOUGH)
			.slice(0, MOST_HITS)
			.map(({ record }) => record),
		firstSimilarity: ranked[0]?.score ?? 0,
	};
}
