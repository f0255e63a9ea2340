import type { Question } from './question';
import { AGENT_LOOP } from './questions/agentLoop';
import { FIRST_WORD } from './questions/firstWord';
import { MANY_CHATS } from './questions/manyChats';
import { SCALE } from './questions/scale';
import { WAITING } from './questions/waiting';
import { READING_STREAMS } from './questions/readingStreams';
import { WEIGHT } from './questions/weight';

/** What is measured, in this order. */
export const QUESTIONS: readonly Question[] = [
	MANY_CHATS,
	FIRST_WORD,
	READING_STREAMS,
	AGENT_LOOP,
	WAITING,
	SCALE,
	WEIGHT,
];
