/** An account of the service. */
export interface Account {
	readonly key: string;
	/** Name in the journal and the log, which never show the key. */
	readonly name: string;
	readonly hasCredit: boolean;
}

/** All accounts of the emulator (spec 5). */
export const ACCOUNTS = [
	{ key: 'demo-key', name: 'demo', hasCredit: true },
	{ key: 'creator-key', name: 'creator', hasCredit: true },
	{ key: 'demo-key-no-credit', name: 'demo-without-credit', hasCredit: false },
] as const satisfies readonly Account[];

/** Sender of a request: the account, and the application named in the key. */
export interface Caller {
	readonly account: Account;
	/** The application appended to the key, `<API_KEY>-<APP_CODE>` (spec 4). */
	readonly appCode?: string;
}

/** Longest key first, because one key can be a prefix of another. */
const LONGEST_FIRST: readonly Account[] = [...ACCOUNTS].sort((a, b) => b.key.length - a.key.length);

/** Looks up the caller of an `Authorization` header; undefined for an unknown key (spec 5). */
export function findCaller(authorization: string | undefined): Caller | undefined {
	const token = /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1];
	if (token === undefined) return undefined;

	for (const account of LONGEST_FIRST) {
		if (token === account.key) return { account };
		const appCode = token.startsWith(`${account.key}-`) && token.slice(account.key.length + 1);
		if (appCode) return { account, appCode };
	}
	return undefined;
}
