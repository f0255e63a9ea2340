/** Reads three answers at once that are far larger than they look, and others meanwhile; prints what came of them. */
import { completeChat } from '../../nodes/client/chat/completeChat';
import type { ServiceError } from '../../nodes/client/errors';
import { queryTask } from '../../nodes/client/video/tasks';
import { axiosHttp } from '../support/axiosHttp';

const [, , url = ''] = process.argv;
const at = (path: string) => axiosHttp(`${url}/${path}`, 'k');
const ask = async (path: string) =>
	await completeChat(
		at(path),
		{ model: 'm', messages: [{ role: 'user', content: 'Hi' }] },
		{ stream: false, idleTimeoutMs: 60_000 },
	);

let served = 0;
let isOver = false;
async function askOthers(): Promise<void> {
	while (!isOver) {
		const { choices } = await ask('ordinary');
		if (choices[0]!.message.content === 'Hi') served += 1;
	}
}

async function main(): Promise<void> {
	const others = [askOthers(), askOthers()];
	const ended = await Promise.allSettled([
		ask('chat'),
		queryTask(at('video'), 't', 60_000),
		ask('error'),
	]);
	isOver = true;
	await Promise.all(others);
	const outcomes = ended.map((each) => {
		if (each.status === 'fulfilled') return 'read';
		const { name, kind, details } = each.reason as ServiceError;
		return [name, kind, details.status];
	});
	process.stdout.write(JSON.stringify({ outcomes, served: served > 1 }));
}

void main();
