import { ServiceError } from '../errors';
import { isUnclear } from '../isUnclear';

/** The error of a creation, which says so where the task may exist; its kind and details stay. */
export function withDoubt(error: ServiceError): ServiceError {
	const isInDoubt = error.kind === 'cancelled' || isUnclear(error);
	if (!isInDoubt) return error;
	return new ServiceError(
		error.kind,
		`${error.message}; the task may have been created`,
		`${error.remedy}. Look first whether the service has the task`,
		{ ...error.details, mayExist: true },
	);
}
