import { replyWith } from '../support/chatReplies';
import { dataTables } from '../support/dataTables';
import { runNode } from '../support/engine';
import { withFakeTimers } from '../support/fakeTimers';
import { serverForEach } from '../support/scriptedServer';

const server = serverForEach(replyWith({ content: 'Hello' }, undefined, { session_id: 's-1' }));

/** Remembers a session while each kind of operation on tables fails once with this text. */
async function remember(text: string) {
	const tables = dataTables();
	const failed = new Set<string>();
	tables.fails = (operation) => {
		if (failed.has(operation)) return undefined;
		failed.add(operation);
		return text;
	};
	const { status, error } = await withFakeTimers(
		async () =>
			await runNode('superAssistant', {
				credential: { baseUrl: server.url, apiKey: 'k-secret' },
				tables,
				parameters: {
					appCode: 'demo-assistant',
					message: 'Hi',
					session: 'key',
					sessionKey: 'chat-1',
				},
			}),
	);
	// A call that is tried again may write a row twice; the newest one counts.
	return { status, error, sessions: [...new Set(tables.rows.map((row) => row['session_id']))] };
}

test.each([
	// SQLite, and n8n's driver for it.
	'SQLITE_BUSY: database is locked',
	'SQLITE_LOCKED: database table is locked: data_table_user_1',
	'SQLITE_PROTOCOL: locking protocol',
	'SQLITE_ERROR: cannot start a transaction within a transaction',
	'Transaction already started for the given connection, commit current transaction before starting a new one.',
	'Transaction is not started yet, start transaction before committing or rolling it back.',
	'Timeout waiting for lock SqliteWriteConnectionMutex to become available',
	'Database connection lease already released. Cannot run queries anymore.',
	'Driver has already been released.',
	// The pools, while n8n replaces lost connections.
	'Driver not Connected',
	'Connection with postgres database is not established. Check connection configuration.',
	'Cannot use a pool after calling end on the pool',
	'Timed out after 30000ms waiting for database connection recovery',
	'timeout exceeded when trying to connect',
	'timeout expired',
	'Failed to acquire connection',
	// PostgreSQL and its client.
	'Connection terminated unexpectedly',
	'Client has encountered a connection error and is not queryable',
	'Query read timeout',
	'terminating connection due to administrator command',
	'the database system is shutting down',
	'sorry, too many clients already',
	'remaining connection slots are reserved for roles with the SUPERUSER attribute',
	'deadlock detected',
	'could not serialize access due to concurrent update',
	'could not obtain lock on row in relation "data_table"',
	'canceling statement due to lock timeout',
	'canceling statement due to statement timeout',
	'canceling statement due to conflict with recovery',
	'current transaction is aborted, commands ignored until end of transaction block',
	// The network, in the words of Node.js and of n8n.
	'read ECONNRESET',
	'write EPIPE',
	'connect ECONNREFUSED 127.0.0.1:5432',
	'connect ETIMEDOUT 127.0.0.1:5432',
	'getaddrinfo EAI_AGAIN database',
	'The connection to the server was closed unexpectedly, perhaps it is offline. You can retry the request immediately or wait and retry later.',
	"The connection timed out, consider setting the 'Retry on Fail' option in the node settings",
])('a table is tried again after: %s', async (text) => {
	const { status, sessions } = await remember(text);
	expect({ status, sessions }).toStrictEqual({ status: 'success', sessions: ['s-1'] });
});

test.each([
	'Data table size limit exceeded: 50MB used, limit is 50MB',
	"Validation error with data table request: unknown column name 'lock'",
	'the module is disabled',
	'could not extend file "base/16384/16999": No space left on device',
	'SQLITE_FULL: database or disk is full',
	'SQLITE_READONLY: attempt to write a readonly database',
	"User does not have 'dataTable:writeRow' access on project 'p'",
	'password authentication failed for user "n8n"',
])('but not after: %s', async (text) => {
	const { error, sessions } = await remember(text);
	expect(error!.message).toMatch(/^Session cannot be used: /);
	expect(sessions).toStrictEqual([]);
	expect(server.requests).toHaveLength(0);
});
