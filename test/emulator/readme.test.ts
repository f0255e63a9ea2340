import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { APPS } from '../../emulator/chat/apps';
import { EMULATED_CHAT_MODELS } from '../../emulator/chat/models';
import { FAULTS_SCHEMA } from '../../emulator/faults/faultSchema';
import { ACCOUNTS } from '../../emulator/accounts';
import { TRIGGERS } from '../../emulator/triggers';
import { EMULATED_MODELS } from '../../emulator/video/models';

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

	it('names the models that send thumbnails and enhanced prompts', () => {
		const rows = README.split('\n').map((row) => row.replace(/ +/g, ' '));
		const codes = (of: 'thumbnail' | 'enhancedPrompt') =>
			EMULATED_MODELS.filter((model) => model[of])
				.map(({ code }) => `\`${code}\``)
				.join(', ');
		expect(rows).toContain(`| thumbnails | ${codes('thumbnail')} |`);
		expect(rows).toContain(`| enhanced prompts | ${codes('enhancedPrompt')} |`);
	});
});
