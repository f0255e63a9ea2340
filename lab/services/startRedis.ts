import { freePort } from './freePort';
import { startServer, type Server } from './startServer';
import { systemProgram } from './systemProgram';

/**
 * Starts Redis without persistence on the loopback address.
 *
 * @param onProgress Called with one line when Redis is installed.
 */
export async function startRedis(onProgress?: (text: string) => void): Promise<Server> {
	const program = await systemProgram('redis', onProgress);
	const port = await freePort();
	return await startServer({
		program,
		port,
		args: (folder) => [
			...['--bind', '127.0.0.1', '--port', String(port)],
			...['--dir', folder, '--save', '', '--appendonly', 'no'],
		],
		readyLine: 'Ready to accept connections',
	});
}
