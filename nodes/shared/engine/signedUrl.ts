/**
 * Whether a URL is one that n8n has signed for a binary file, and so expires.
 *
 * n8n 2.41.1, n8n-core/dist/execution-engine/node-execution-context/utils/binary-helper-functions.js
 * Without it: false; a memory keeps images whose URLs have expired.
 */
export const isSignedUrl = (url: string) => url.includes('/binary-data/signed?token=');
