import type {
	Icon,
	ICredentialDataDecryptedObject,
	ICredentialType,
	IHttpRequestOptions,
	INodeProperties,
} from 'n8n-workflow';

import { normalizeBaseUrl } from '../nodes/client/http/publicUrl';
import { VIDEO_MODELS } from '../nodes/client/video/models';
import { choice, entries, form, text, toggle } from '../nodes/shared/form/form';

const code = text('Code', { placeholder: 'e.g. my-model' });

const like = choice<string>('Behaves Like', {
	choices: VIDEO_MODELS.map(({ code: row, input }) => [`${row}: ${input}`, row]),
	default: VIDEO_MODELS[0].code,
	help: 'The model in the documentation that has the same fields and values',
});

export class AgentVideoApi implements ICredentialType {
	name = 'agentVideoApi';

	displayName = 'Agent Video API';

	documentationUrl = 'https://github.com/n8n-nodes-agent-video/n8n-nodes-agent-video#credential';

	icon: Icon = {
		light: 'file:../icons/agentVideo.svg',
		dark: 'file:../icons/agentVideo.dark.svg',
	};

	properties: INodeProperties[] = form({
		baseUrl: text('Base URL', {
			required: true,
			placeholder: 'e.g. https://api.example.com',
			help: 'Address of the service, up to its version: with or without /v1, or with another one such as /api/v3',
		}),
		apiKey: text('API Key', {
			typeOptions: { password: true },
			required: true,
			help: 'Created in the console of the service',
		}),
		keyIncludesApp: toggle('API Key Ends With an App Code', {
			help: 'Whether the key has the form API_KEY-APP_CODE. Every chat then uses that application, workflow or super assistant, and App Code in the nodes stays empty.',
		}),
		extraHeaders: entries('Extra Headers', {
			help: 'Sent with every request to the service, e.g. the key of a gateway, or a tenant',
			entry: [
				'Header',
				'header',
				{
					name: text('Name', { placeholder: 'e.g. X-Tenant' }),
					value: text('Value', { typeOptions: { password: true } }),
					secret: toggle('Secret', {
						default: true,
						help: 'Whether the value is masked in errors, hints and logs. Values with fewer than 8 characters are not.',
					}),
				},
			],
		}),
		fileHosts: text('File Hosts', {
			placeholder: 'e.g. files.example.com, *.cdn.example.com',
			help: 'Other hosts that have files of the service. A chat shows their images, all others as links. Their files are downloaded also from a private network.',
		}),
		chatModels: entries('Chat Models', {
			help: 'Codes of the chat models of your account, for the lists of the nodes',
			entry: ['Chat Model', 'model', { code, name: text('Display Name', {}) }],
		}),
		videoModels: entries('Video Models', {
			help: 'Codes of the video models of your account, for Create Video',
			entry: ['Video Model', 'model', { code, like }],
		}),
	}).properties;

	/**
	 * Adds the key. Other nodes can use the credential for any URL, also in a project that may use it and not see it.
	 *
	 * A function, because n8n would evaluate an expression in its sandbox for every request.
	 *
	 * @throws Error if the request goes to another host than that of the Base URL.
	 */
	authenticate = async (
		{ apiKey, baseUrl }: ICredentialDataDecryptedObject,
		request: IHttpRequestOptions & { readonly uri?: string },
	): Promise<IHttpRequestOptions> => {
		const { origin } = new URL(normalizeBaseUrl(String(baseUrl ?? '')));
		// Older nodes of n8n name the URL `uri`.
		const url = request.uri ?? request.url;
		if (!URL.canParse(url, request.baseURL) || new URL(url, request.baseURL).origin !== origin)
			throw new Error(`The key of this credential is sent to ${origin} only`);
		return {
			...request,
			headers: { ...request.headers, Authorization: `Bearer ${String(apiKey ?? '').trim()}` },
		};
	};
}
