import { hash, scrypt } from 'node:crypto';

import type { ICredentialDataDecryptedObject, IDataObject, IExecuteFunctions } from 'n8n-workflow';

import { readCredential } from './credential';
import { CREDENTIAL } from './nodeContext';

/** Names of accounts in this process, by a hash of the credential's data. */
const names = new Map<string, Promise<string>>();

/**
 * Name of the account behind a credential: the host of its base URL and a fingerprint of its API key and extra headers.
 * The service has no ID of accounts, so another key counts as another account. So does another header: it may name the
 * tenant, and a task that is polled for another tenant would be lost.
 *
 * More people can read the tables than may use the credential. A weak key could be found from a plain hash by trying: scrypt
 * makes each try take 50 ms.
 *
 * @throws InputError when the credential has a missing or malformed value.
 */
export async function accountName(data: ICredentialDataDecryptedObject): Promise<string> {
	const { baseUrl, key, headers } = readCredential(data);
	const { host } = new URL(baseUrl);
	const sent = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]);
	const secret = JSON.stringify([key, ...sent.sort()]);
	const id = hash('sha256', JSON.stringify([host, secret]));
	const name =
		names.get(id) ??
		new Promise<string>((resolve, reject) => {
			scrypt(secret, host, 16, (error, fingerprint) => {
				if (error) reject(error);
				else resolve(`${host} ${fingerprint.toString('base64url')}`);
			});
		});
	names.set(id, name);
	return await name;
}

/** The name of the account that a node uses, see `accountName`. */
export async function accountOf(context: IExecuteFunctions): Promise<string> {
	return await accountName(await context.getCredentials(CREDENTIAL, 0));
}

/** Whether a row of a table belongs to the account: a person may have cleared the cell after the API key was changed. */
export function isOwn({ account: owner }: IDataObject, account: string): boolean {
	return [account, '', null, undefined].includes(owner as string | null);
}
