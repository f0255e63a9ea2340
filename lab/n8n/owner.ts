import { randomBytes } from 'node:crypto';

/** Environment variable with the password, which child processes inherit. */
const PASSWORD = 'N8N_LAB_PASSWORD';

const given = process.env[PASSWORD];

/** n8n asks for a digit and a capital letter. */
process.env[PASSWORD] ??= `Demo1-${randomBytes(9).toString('base64url')}`;

/**
 * The account of the lab's n8n. Its password is random: n8n answers requests for every host name, so a web page whose
 * name points to this machine (DNS rebinding) reaches its sign-in.
 */
export const OWNER = {
	email: 'demo@example.com',
	firstName: 'Demo',
	lastName: 'Owner',
	get password(): string {
		return process.env[PASSWORD]!;
	},
} as const;

/** Uses the password of an existing account from now on, unless the environment variable has given one. */
export function useKeptPassword(password: string): void {
	process.env[PASSWORD] = given ?? password;
}
