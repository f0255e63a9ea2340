import SCRIPT_SCHEMA from '../script/script.schema.json';

/** JSON schema of `POST /__emulator/faults`: a list of faults. */
export const FAULTS_SCHEMA = { type: 'array', items: SCRIPT_SCHEMA.definitions.fault };
