import { outputItems, type Execution } from '../../../lab/n8n/execution';
import type { Workflow } from '../../../lab/n8n/workflow';
import type { ToolCall } from '../../../nodes/client/chat/types';
import { draw, type Drawing } from './drawAgent';
import { call, results, startScriptedModel, type ScriptedModel } from './scriptedModel';
import { startSession, type Session } from './session';

/** A session for tests of agents. The credential `Model` uses a model scripted by the test, `Emulator` the emulator. */
export interface AgentSession extends Session {
	readonly model: ScriptedModel;
	/** Builds the workflow of an agent, named after the current test, and executes it. */
	run(drawing: Drawing): Promise<AgentRun>;
	/** @param destination The node of *Execute step*; without it the whole workflow runs. */
	runWorkflow(workflow: Workflow, destination?: string): Promise<Execution>;
	/** Scripts the model to request these tool calls first, and to answer when it has their results. */
	requestsTools(...calls: readonly ToolCall[]): void;
	/**
	 * Scripts the model to treat a question as a list of cities, such as `Rome, time:Oslo`: it calls a tool for each, all in
	 * one round (`weather` where none is named), and answers with the question and the results. `Hello` needs no tool.
	 * The IDs of the calls are the same in every conversation.
	 */
	looksUpCities(): void;
	/** The tool results in the last request to the model. */
	toolResults(): unknown[];
	/** Creates a credential for a server of the test. */
	credential(name: string, baseUrl: string): Promise<void>;
}

interface AgentRun {
	readonly execution: Execution;
	/** Items on the output Answer. */
	readonly answers: readonly Json[];
}

/** Requests after which the model ends a loop that would never end. */
const MAX_REQUESTS = 30;

type Json = ReturnType<typeof outputItems>[number]['json'];

/** Starts n8n, the emulator and the scripted model. */
export async function startAgentSession(): Promise<AgentSession> {
	const session = await startSession({ videoSeconds: 1 });
	const model = await startScriptedModel();
	const { client, emulator } = session;
	const agent: AgentSession = {
		...session,
		model,
		run: async (drawing) => {
			// n8n takes names of up to 128 characters.
			const name = expect.getState().currentTestName!.slice(0, 128);
			const execution = await agent.runWorkflow(draw(name, drawing));
			const answers = outputItems(execution, 'Answers').map(({ json }) => json);
			return { execution, answers };
		},
		runWorkflow: async (workflow, destination) => {
			const ref = await client.importWorkflow(workflow);
			return await client.waitForExecution(await client.run(ref, 'Start', destination));
		},
		requestsTools: (...calls) => {
			model.replyWith((messages) => (results(messages).length === 0 ? [...calls] : 'Done.'));
		},
		looksUpCities: () => {
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
		toolResults: () => results(model.requests.at(-1)!.messages).map(({ content }) => content),
		credential: async (name, baseUrl) => {
			const data = { baseUrl, apiKey: 'demo-key' };
			await client.createCredential({ name, type: 'agentVideoApi', data });
		},
		stop: async () => {
			await model.stop();
			await session.stop();
		},
	};
	await agent.credential('Model', model.url);
	await agent.credential('Emulator', emulator.url);
	return agent;
}
