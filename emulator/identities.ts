/** Somebody who may call the service. */
export interface Account {
	readonly key: string;
	/** What the journal and the log call it; they never show the key. */
	readonly name: string;
	readonly hasCredit: boolean;
}

/** Every API key the emulator knows (spec 5). */
export const ACCOUNTS = [
	{ key: 'demo-key', name: 'demo', hasCredit: true },
	{ key: 'demo-key-no-credit', name: 'demo-without-credit', hasCredit: false },
] as const satisfies readonly Account[];

export interface Caller {
	readonly account: Account;
	/** The application appended to the key, `<API_KEY>-<APP_CODE>` (spec 4). */
	readonly appCode?: string;
}

/** Keys may begin with one another: the longest that fits is meant. */
const LONGEST_FIRST: readonly Account[] = [...ACCOUNTS].sort((a, b) => b.key.length - a.key.length);

/** Who sends this `Authorization` header, or undefined for nobody the service knows (spec 5). */
export function identify(authorization: string | undefined): Caller | undefined {
	const token = /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1];
	if (token === undefined) return undefined;

	for (const account of LONGEST_FIRST) {
		if (token === account.key) return { account };
		const appCode = token.startsWith(`${account.key}-`) && token.slice(account.key.length + 1);
		if (appCode) return { account, appCode };
	}
	return undefined;
}
