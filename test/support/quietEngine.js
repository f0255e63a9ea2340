// n8n's engine logs every failed node, and many tests make nodes fail.
process.env.N8N_LOG_LEVEL = 'silent';
