import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { ROOT } from '../../lab/paths';

const PRELOADED = join(ROOT, 'lab', 'n8n', 'endWithParent.ts');
/** How a program that was started behaves when its parent has ended. */
const PROGRAMS = [
	{ state: 'still loads', program: 'setInterval(() => {}, 1000);' },
	{
		state: 'runs, and stops in its own time',
		program: `setInterval(() => {}, 1000);
			process.on('SIGTERM', () => setTimeout(() => process.exit(0), 100));`,
	},
	{
		state: 'still loads, and ends before it notices',
		program: `console.log('started');
			while (String(process.ppid) === process.env.LAB_PARENT);
			process.exit(1);`,
	},
	{
		state: 'runs, and does not stop',
		program: "setInterval(() => {}, 1000); process.on('SIGTERM', () => {});",
	},
];

let folder: string;
let parent: ChildProcess;

beforeEach(() => {
	folder = mkdtempSync(join(tmpdir(), 'end-with-parent-'));
});
afterEach(() => {
	parent.kill('SIGKILL');
	rmSync(folder, { recursive: true, force: true });
});

test.each(PROGRAMS)(
	'n8n ends with the process that started it, and leaves no folder: it $state',
	async ({ program }) => {
		// As startN8n starts n8n: leading a process group, with an IPC channel.
		const starting = `
			const child = require('node:child_process').spawn(
				process.execPath,
				['--require', ${JSON.stringify(PRELOADED)}, '-e', ${JSON.stringify(`${program} console.log('started')`)}],
				{ detached: true, stdio: ['ignore', 'inherit', 'inherit', 'ipc'], env: { ...process.env, LAB_TEMPORARY_FOLDER: ${JSON.stringify(folder)}, LAB_PARENT: String(process.pid) } },
			);
			setInterval(() => {}, 1000);
		`;
		parent = spawn(process.execPath, ['-e', starting], {
			stdio: ['ignore', 'pipe', 'inherit'],
		});
		await once(parent.stdout!, 'data');
		expect(existsSync(folder)).toBe(true);
		parent.kill('SIGKILL');
		// The child holds the other end of the pipe until it ends.
		await once(parent.stdout!, 'close');
		expect(existsSync(folder)).toBe(false);
	},
);
