import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

import { SMTPServer } from 'smtp-server';

import { plain } from '../services/plain';

/** Labels and addresses of the buttons in a mail of n8n. */
const BUTTON = /<a href="([^"]+)"[^>]*>(\w+)<\/a>/g;

/** Undoes quoted-printable encoding, in which n8n's mails are; only ASCII characters occur in their links. */
function decode(raw: string): string {
	const decoded = (_all: string, code: string) => String.fromCharCode(Number.parseInt(code, 16));
	return raw.replaceAll('=\r\n', '').replaceAll(/=([0-9A-F]{2})/g, decoded);
}

/** A mail as lines for the terminal: its subject, and what its buttons open. */
export function describeMail(raw: string): string {
	const subject = /^Subject: (.*)\r?$/m.exec(raw)?.[1] ?? '';
	const buttons = [...decode(raw).matchAll(BUTTON)].filter(([, url]) => url!.includes('webhook'));
	const lines = [`Mail: ${subject}`, ...buttons.map(([, url, label]) => `  ${label}: ${url}`)];
	return plain(lines.join('\n'));
}

/**
 * Starts a mail server on the loopback address for the examples that send mail. It delivers nothing, and shows each mail.
 *
 * @param show Receives the lines of a mail.
 */
export async function showMails(
	show: (lines: string) => void,
): Promise<{ readonly port: number; readonly stop: () => Promise<void> }> {
	const server = new SMTPServer({
		disabledCommands: ['AUTH', 'STARTTLS'],
		onData: (stream, _session, done) => {
			text(stream).then((raw) => {
				show(describeMail(raw));
				done();
			}, done);
		},
	});
	await once(server.listen(0, '127.0.0.1'), 'listening');
	const { port } = server.server.address() as AddressInfo;
	return {
		port,
		stop: () =>
			new Promise((resolve) => {
				server.close(resolve);
			}),
	};
}
