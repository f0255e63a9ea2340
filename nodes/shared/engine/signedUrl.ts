/** Whether a URL is one that n8n has signed for a binary file, and so expires. */
export const isSignedUrl = (url: string) => url.includes('/binary-data/signed?token=');
