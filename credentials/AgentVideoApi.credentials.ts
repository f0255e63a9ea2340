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

	/** A function, because n8n would evaluate an expression in its sandbox again for every single request. */
	authenticate = async (
		{ apiKey }: ICredentialDataDecryptedObject,
		request: IHttpRequestOptions,
	): Promise<IHttpRequestOptions> => ({
		...request,
		headers: { ...request.headers, Authorization: `Bearer ${String(apiKey ?? '').trim()}` },
	});

	/** Asks for a task that does not exist, which costs nothing: whatever the service says about it, it took the key. */
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
			rule(401, 'The service did not accept the API key'),
			rule(403, 'The service does not let this API key in'),
			rule(404, 'This address does not lead to the service: check the Base URL'),
			rule(405, 'This address does not lead to the service: check the Base URL'),
			rule(500, 'The service failed: try again in a minute'),
			rule(502, 'A proxy in front of the service failed: try again in a minute'),
			rule(503, 'The service is not available just now: try again in a minute'),
			rule(504, 'The service did not answer in time: try again in a minute'),
		],
	};
}

function rule(value: number, message: string) {
	return { type: 'responseCode' as const, properties: { value, message } };
}
