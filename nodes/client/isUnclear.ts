import { ServiceError } from './errors';

/** Whether the service may have carried out the call although it failed: a paid call must not be sent again by itself. */
export function isUnclear(error: unknown): error is ServiceError {
	return error instanceof ServiceError && error.details.unclear === true;
}
