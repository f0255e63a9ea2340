/** Who signs in to the lab's n8n: it runs on this machine only, for trying out, so the password is no secret. */
export const OWNER = {
	email: 'demo@example.com',
	firstName: 'Demo',
	lastName: 'Owner',
	password: 'Demo-1234',
} as const;
