import { request } from 'node:http';
import { startEmulator, type Emulator, type EmulatorOptions } from '../../emulator/startEmulator';

let emulator: Emulator | undefined;
afterEach(async () => {
	await emulator?.stop();
	emulator = undefined;
});

/** Asks an emulator on a loopback address with a Host header of its own, as a browser does that was given a rebound name. */
async function ask(host: string, options: EmulatorOptions = {}, path = '/__emulator/journal') {
	emulator ??= await startEmulator(options);
	const { port } = emulator;
	const headers = { host: host.replace('PORT', String(port)) };
	return await new Promise<{ status: number; text: string }>((resolve, reject) => {
		const sent = request({ host: '127.0.0.1', port, path, headers }, (response) => {
			let text = '';
			response.setEncoding('utf8').on('data', (part: string) => (text += part));
			response.on('end', () => {
				resolve({ status: response.statusCode!, text });
			});
		});
		sent.on('error', reject).end();
	});
}

describe('the Host header', () => {
	it.each([
		'attacker.example:PORT',
		'127.0.0.1.attacker.example:PORT',
		'localhost.attacker.example:PORT',
		'10.0.0.7:PORT',
	])('%j is refused on every path, and leaves no journal entry', async (host) => {
		for (const path of ['/__emulator/journal', '/__emulator/clock', '/cdn/x.mp4', '/v1/x']) {
			const { status, text } = await ask(host, {}, path);
			expect({ path, status }).toStrictEqual({ path, status: 421 });
			expect(text).toContain('--allow-host');
		}
		expect(emulator!.journal.entries).toStrictEqual([]);
	});

	it.each(['localhost:PORT', 'emulator.localhost:PORT', '127.0.0.1', '[::1]:PORT'])(
		'%j is this machine',
		async (host) => {
			expect(await ask(host)).toMatchObject({ status: 200 });
		},
	);

	it('the address of the connection is accepted where the emulator listens on all addresses', async () => {
		expect(await ask('127.0.0.1:PORT', { host: '0.0.0.0' })).toMatchObject({ status: 200 });
		expect(await ask('attacker.example:PORT')).toMatchObject({ status: 421 });
	});

	it('other names can be allowed', async () => {
		const options = { allowedHosts: ['host.docker.internal'] };
		expect(await ask('host.docker.internal:PORT', options)).toMatchObject({ status: 200 });
		expect(await ask('Host.Docker.Internal')).toMatchObject({ status: 200 });
		expect(await ask('attacker.example')).toMatchObject({ status: 421 });
	});
});
