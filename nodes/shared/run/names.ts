/** Internal name of the credential type that all nodes share. */
export const CREDENTIAL = 'agentVideoApi';
