import { relative } from 'node:path';

import { ROOT } from '../lab/paths';
import { packEmulator } from './packEmulator';

packEmulator(ROOT).then(
	(file) => {
		console.log(relative(process.cwd(), file));
	},
	(error: unknown) => {
		console.error((error as Error).message);
		process.exitCode = 1;
	},
);
