import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { freePort } from './freePort';
import { startServer, type Server } from './startServer';
import { systemProgram } from './systemProgram';

/**
 * Starts nginx on the loopback address as a reverse proxy with the usual settings: it buffers responses and compresses
 * them.
 *
 * @param upstreamPort Port of the server behind it, on the loopback address.
 * @param onProgress Called with one line when nginx is installed.
 */
export async function startNginx(
	upstreamPort: number,
	onProgress?: (text: string) => void,
): Promise<Server> {
	const program = await systemProgram('nginx', onProgress);
	const port = await freePort();
	return await startServer({
		program,
		port,
		prepare: async (folder) => {
			await writeFile(join(folder, 'nginx.conf'), configuration(folder, port, upstreamPort));
		},
		args: (folder) => ['-p', folder, '-c', 'nginx.conf', '-e', 'stderr'],
		readyLine: 'event method',
	});
}

/** A configuration that needs no root rights: one process that writes only to its own folder. */
function configuration(folder: string, port: number, upstreamPort: number): string {
	const kinds = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
	const temporary = kinds.map((kind) => `${kind}_temp_path ${join(folder, kind)};`);
	return `
daemon off;
master_process off;
pid ${join(folder, 'nginx.pid')};
error_log stderr notice;
events { worker_connections 64; }
http {
	access_log off;
	${temporary.join('\n\t')}
	gzip on;
	gzip_types *;
	gzip_min_length 1;
	gzip_proxied any;
	server {
		listen 127.0.0.1:${port};
		location / {
			proxy_pass http://127.0.0.1:${upstreamPort};
			proxy_http_version 1.1;
			proxy_buffering on;
		}
	}
}
`;
}
