import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

import axios from 'axios';
import { SMTPServer } from 'smtp-server';

import type { Execution } from '../../../lab/n8n/execution';
import type { N8nClient, WorkflowRef } from '../../../lab/n8n/N8nClient';
import { SMTP_CREDENTIAL } from '../../../lab/n8n/readExample';

/** A button in a mail of "Send and Wait for Response". */
export type Button = 'Approve' | 'Decline';

/** A mail that asks a person for approval. */
export interface Mail {
	readonly subject: string;
	/** The address that each button opens. */
	readonly links: Readonly<Record<Button, string>>;
}

/** A mail without buttons. */
export interface Letter {
	readonly to: string;
	readonly subject: string;
	readonly text: string;
}

/** A mail server on loopback, with the person who reads the mails. */
export interface Mailbox {
	/** All mails without buttons, in the order of their arrival. */
	readonly letters: readonly Letter[];
	/**
	 * Executes a workflow. Each time it waits, the person reads the next mail and clicks the button that `decide` returns.
	 *
	 * @throws Error if n8n does not accept a click, or if the execution has not ended after four minutes.
	 */
	run(ref: WorkflowRef, trigger: string, decide: Decide): Promise<ApprovedRun>;
	stop(): Promise<void>;
}

/** Chooses the button of a mail, or none; `index` is the number of mails of the execution before it. */
export type Decide = (
	index: number,
	executionId: string,
) => Button | undefined | Promise<Button | undefined>;

export interface ApprovedRun {
	readonly execution: Execution;
	/** All mails of the execution. */
	readonly mails: readonly Mail[];
}

const RUN_LIMIT_MS = 4 * 60_000;
/** n8n ignores clicks of programs that it knows: they open links only to check them. */
const BROWSER = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';

/** Starts the mail server, and creates the SMTP credential for it. */
export async function startMailbox(client: N8nClient): Promise<Mailbox> {
	const mails: Mail[] = [];
	const letters: Letter[] = [];
	const server = new SMTPServer({
		disabledCommands: ['AUTH', 'STARTTLS'],
		onData: (stream, _session, done) => {
			text(stream).then((raw) => {
				const mail = readMail(raw);
				if (mail) mails.push(mail);
				else letters.push(readLetter(raw));
				done();
			}, done);
		},
	});
	await once(server.listen(0, '127.0.0.1'), 'listening');
	const { port } = server.server.address() as AddressInfo;
	await client.createCredential({
		name: SMTP_CREDENTIAL,
		type: 'smtp',
		data: { host: '127.0.0.1', port, secure: false, disableStartTls: true },
	});
	const mailsOf = (executionId: string) =>
		mails.filter(({ links }) => links.Approve.includes(`/webhook-waiting/${executionId}/`));
	return {
		letters,
		run: async (ref, trigger, decide) => {
			const id = await client.run(ref, trigger);
			let answered = 0;
			const execution = await client.waitForExecution(id, {
				limitMs: RUN_LIMIT_MS,
				onProgress: async ({ status }) => {
					const mail = mailsOf(id)[answered];
					if (status !== 'waiting' || mail === undefined) return;
					const button = await decide(answered++, id);
					if (button !== undefined) await open(mail.links[button]);
				},
			});
			return { execution, mails: mailsOf(id) };
		},
		stop: async () => {
			await new Promise<void>((resolve) => {
				server.close(resolve);
			});
		},
	};
}

/** A mail that asks for approval; undefined for any other. */
function readMail(raw: string): Mail | undefined {
	const links = [...decodeQuotedPrintable(raw).matchAll(/<a href="([^"]+)"[^>]*>(\w+)<\/a>/g)];
	const link = (button: Button) => links.find(([, , label]) => label === button)?.[1];
	const [Approve, Decline] = [link('Approve'), link('Decline')];
	if (Approve === undefined || Decline === undefined) return undefined;
	return { subject: headerOf(raw, 'Subject'), links: { Approve, Decline } };
}

function readLetter(raw: string): Letter {
	const body = raw.slice(raw.indexOf('\r\n\r\n') + 4);
	return {
		to: headerOf(raw, 'To'),
		subject: headerOf(raw, 'Subject'),
		text: decodeQuotedPrintable(body).replaceAll('\r\n', '\n').trim(),
	};
}

function headerOf(raw: string, name: 'Subject' | 'To'): string {
	return new RegExp(`^${name}: (.*)\r$`, 'm').exec(raw)?.[1] ?? '';
}

/** Decodes the transfer encoding of a mail's text. Only ASCII characters occur in it. */
function decodeQuotedPrintable(raw: string): string {
	return raw
		.replace(/=\r\n/g, '')
		.replace(/=([0-9A-F]{2})/g, (_all, code: string) =>
			String.fromCharCode(Number.parseInt(code, 16)),
		);
}

async function open(url: string): Promise<void> {
	const { data } = await axios.get<string>(url, {
		proxy: false,
		headers: { 'user-agent': BROWSER },
	});
	if (!data.includes('Got it, thanks')) throw new Error(`n8n did not accept the click:\n${data}`);
}
