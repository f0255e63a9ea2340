import { outputItems, type Execution } from '../../../lab/n8n/execution';
import type { Workflow } from '../../../lab/n8n/workflow';
import type { ToolCall } from '../../../nodes/client/chat/types';
import { draw, type Drawing } from './drawAgent';
import { results, startScriptedModel, type ScriptedModel } from './scriptedModel';
import { startSession, type Session } from './session';

/** An n8n for agents, whose model says what the test decides. The credential `Model` leads there, `Emulator` to the emulator. */
export interface AgentSession extends Session {
	readonly model: ScriptedModel;
	/** Draws an agent, named after the running test, and runs it. */
	run(drawing: Drawing): Promise<AgentRun>;
	runWorkflow(workflow: Workflow): Promise<Execution>;
	/** Lets the model ask for these calls first, and answer when it has results. */
	asksFor(...calls: readonly ToolCall[]): void;
	/** What the model was told in its last request about the calls so far. */
	told(): unknown[];
	/** Adds a credential for a service of the test. */
	credential(name: string, baseUrl: string): Promise<void>;
}

interface AgentRun {
	readonly execution: Execution;
	/** What left by Answer and by Stopped. */
	readonly answers: readonly Json[];
	readonly stops: readonly Json[];
}

type Json = ReturnType<typeof outputItems>[number]['json'];

/** Starts all that the tests of agents need. */
export async function startAgentSession(): Promise<AgentSession> {
	const session = await startSession({ videoSeconds: 1 });
	const model = await startScriptedModel();
	const { client, emulator } = session;
	const agent: AgentSession = {
		...session,
		model,
		run: async (drawing) => {
			const name = expect.getState().currentTestName!;
			const execution = await agent.runWorkflow(draw(name, drawing));
			const jsonOf = (node: string) => outputItems(execution, node).map(({ json }) => json);
			return { execution, answers: jsonOf('Answers'), stops: jsonOf('Stops') };
		},
		runWorkflow: async (workflow) => {
			const ref = await client.importWorkflow(workflow);
			return await client.waitForExecution(await client.run(ref, 'Start'));
		},
		asksFor: (...calls) => {
			model.says((messages) => (results(messages).length === 0 ? [...calls] : 'Done.'));
		},
		told: () => results(model.requests.at(-1)!.messages).map(({ content }) => content),
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
