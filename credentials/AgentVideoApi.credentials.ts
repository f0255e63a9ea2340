import type {
	Icon,
	ICredentialDataDecryptedObject,
	ICredentialTestRequest,
	ICredentialType,
	IHttpRequestOptions,
	INodeProperties,
} from 'n8n-workflow';

export class AgentVideoApi implements ICredentialType {
	name = 'agentVideoApi';

	displayName = 'Agent Video API';

	documentationUrl = 'https://github.com/n8n-nodes-agent-video/n8n-nodes-agent-video#credential';

	icon: Icon = {
		light: 'file:../icons/agentVideo.svg',
		dark: 'file:../icons/agentVideo.dark.svg',
	};

	properties: INodeProperties[] = [
		{
			displayName: 'Base URL',
			name: 'baseUrl',
			type: 'string',
			required: true,
			default: '',
			placeholder: 'e.g. https://api.example.com',
			description: 'Address of the service, with or without a trailing /v1',
		},
		{
			displayName: 'API Key',
			name: 'apiKey',
			type: 'string',
			typeOptions: { password: true },
			required: true,
			default: '',
			description: 'Created in the console of the service',
		},
	];

	/** Adds the key. A function, because n8n would evaluate an expression in its sandbox for every request. */
	authenticate = async (
		{ apiKey }: ICredentialDataDecryptedObject,
		request: IHttpRequestOptions,
	): Promise<IHttpRequestOptions> => ({
		...request,
		headers: { ...request.headers, Authorization: `Bearer ${String(apiKey ?? '').trim()}` },
	});

	/** Polls a task that does not exist, which is free of charge. Any answer about the task means that the key is accepted. */
	test: ICredentialTestRequest = {
		request: {
			method: 'POST',
			baseURL:
				'={{ $credentials.baseUrl.trim().replace(/\\/+$/, "").replace(/\\/v1$/, "") }}',
			url: '/v1/videos/tasks',
			body: { task_id: 'n8n-credential-test' },
			json: true,
			timeout: 30_000,
			sendCredentialsOnCrossOriginRedirect: false,
			ignoreHttpStatusErrors: {
				ignore: true,
				except: [401, 403, 404, 405, 500, 502, 503, 504],
			},
		},
		rules: [
			rule(401, 'The service rejected the API key'),
			rule(403, 'The API key has no access to this service'),
			rule(404, 'The service was not found at this address: check the Base URL'),
			rule(405, 'The service was not found at this address: check the Base URL'),
			rule(500, 'The service failed: try again in a minute'),
			rule(502, 'A proxy in front of the service failed: try again in a minute'),
			rule(503, 'The service is temporarily unavailable: try again in a minute'),
			rule(504, 'The service did not respond in time: try again in a minute'),
		],
	};
}

function rule(value: number, message: string) {
	return { type: 'responseCode' as const, properties: { value, message } };
}
