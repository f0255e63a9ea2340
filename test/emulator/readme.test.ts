import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { APPS } from '../../emulator/chat/apps';
import { EMULATED_CHAT_MODELS } from '../../emulator/chat/models';
import { FAULTS_SCHEMA } from '../../emulator/addControlRoutes';
import { ACCOUNTS } from '../../emulator/accounts';
import { TRIGGERS } from '../../emulator/triggers';

const README = readFileSync(join(__dirname, '..', '..', 'emulator', 'README.md'), 'utf8');

describe('emulator/README.md', () => {
	it.each([
		...ACCOUNTS.map(({ key }) => key),
		...APPS.map(({ code }) => code),
		...EMULATED_CHAT_MODELS.map(({ code }) => code),
		...Object.values(TRIGGERS),
		...FAULTS_SCHEMA.items.oneOf.map(({ properties }) => properties.kind.const),
	])('documents %s', (name) => {
		expect(README).toContain(`\`${name}\``);
	});
});
