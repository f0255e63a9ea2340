import { ServiceError } from './errors';

/**
 * Whether the service may have carried out the call although it failed. A call that is paid must then not be sent
 * again by itself. A reply that broke off, or that cannot be read, was begun at least.
 */
export function isUnclear(error: unknown): error is ServiceError {
	if (!(error instanceof ServiceError)) return false;
	const { kind, details } = error;
	return details.unclear ?? (kind === 'protocol' || kind === 'stream');
}
