import type { Question } from './question';
import { AGENT_LOOP } from './questions/agentLoop';
import { FIRST_TOKEN } from './questions/firstToken';
import { LARGE_LEDGER } from './questions/largeLedger';
import { MANY_CHATS } from './questions/manyChats';
import { READING_STREAMS } from './questions/readingStreams';
import { SCALE } from './questions/scale';
import { TASK_LEDGER } from './questions/taskLedger';
import { WAITING } from './questions/waiting';
import { WEIGHT } from './questions/weight';

/** All benchmarks, in the order in which they run. */
export const QUESTIONS: readonly Question[] = [
	MANY_CHATS,
	FIRST_TOKEN,
	READING_STREAMS,
	AGENT_LOOP,
	WAITING,
	TASK_LEDGER,
	LARGE_LEDGER,
	SCALE,
	WEIGHT,
];
