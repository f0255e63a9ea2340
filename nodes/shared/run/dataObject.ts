import type { IDataObject } from 'n8n-workflow';

/**
 * A typed JSON object as the type of n8n's item data. A cast without a copy: `IDataObject` is an index signature, which
 * TypeScript does not accept an interface for.
 */
export function toDataObject(value: object): IDataObject {
	return value as IDataObject;
}
