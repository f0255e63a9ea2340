// n8n's engine logs every failed node; the tests look at the results instead.
process.env.N8N_LOG_LEVEL = 'silent';
