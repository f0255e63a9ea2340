import { outputItems, type Execution } from '../../../lab/n8n/execution';
import { draw, type Drawing } from './drawAgent';
import { call, results, startScriptedModel, type ScriptedModel } from './scriptedModel';
import { SET_UP_LIMIT_MS } from './session';
import { useSession, type FileSession } from './useSession';

/** A session for tests of agents. The credential `Model` uses a model scripted by the test. */
export interface AgentSession extends FileSession {
	readonly model: ScriptedModel;
	/** Builds the workflow of an agent, named after the current test, and executes it. */
	run(drawing: Drawing): Promise<Execution>;
	/**
	 * Scripts the model to treat a question as a list of cities, such as `Rome, time:Oslo`: it calls a tool for each, all in
	 * one round (`weather` where none is named), and answers with the question and the results. `Hello` needs no tool.
	 * The IDs of the calls are the same in every conversation.
	 */
	looksUpCities(): void;
	/** The tool results in the last request to the model. */
	toolResults(): unknown[];
}

/** Requests after which the model ends a loop that would never end. */
const MAX_REQUESTS = 30;

/** A session with a scripted model for the file that calls this. */
export function useAgentSession(): AgentSession {
	const session = useSession({ videoSeconds: 0.01 });
	const agent = Object.assign(session, {
		run: async (drawing) => {
			// n8n takes names of up to 128 characters.
			const name = expect.getState().currentTestName!.slice(0, 128);
			return await session.execute(draw(name, drawing));
		},
		looksUpCities: () => {
			const { model } = agent;
			model.replyWith((messages) => {
				if (model.requests.length > MAX_REQUESTS) return 'Too many requests';
				const question = String(messages[0]!.content);
				const cities = question.startsWith('Hello') ? [] : question.split(', ');
				const found = results(messages).map(({ content }) => content);
				if (found.length >= cities.length) return [`${question}:`, ...found].join(' ');
				return cities.map((each, index) => {
					const [city = '', tool = 'weather'] = each.split(':').reverse();
					return call(`c${index + 1}`, tool, { city });
				});
			});
		},
		toolResults: () =>
			results(agent.model.requests.at(-1)!.messages).map(({ content }) => content),
	} as Omit<AgentSession, keyof FileSession>);

	beforeAll(async () => {
		const model = session.keep(await startScriptedModel());
		Object.assign(agent, { model });
		await session.credential('Model', model.url);
	}, SET_UP_LIMIT_MS);

	return agent;
}

/** What the answers of an execution say, by default those at the node behind Answer. */
export function answersOf(execution: Execution, name = 'Answers'): unknown[] {
	return outputItems(execution, name).map(({ json }) => json['output']);
}
