import type {
	Icon,
	ICredentialDataDecryptedObject,
	ICredentialType,
	IHttpRequestOptions,
	INodeProperties,
} from 'n8n-workflow';

import { VIDEO_MODELS } from '../nodes/client/video/models';
import { entriesField, listField, property, textField } from '../nodes/shared/form/fields';

const code = textField('Code', 'code', { placeholder: 'e.g. my-model' });

const behavesLike = listField('Behaves Like', 'like', {
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

	properties: INodeProperties[] = [
		textField('Base URL', 'baseUrl', {
			required: true,
			placeholder: 'e.g. https://api.example.com',
			help: 'Address of the service, with or without a trailing /v1',
		}),
		textField('API Key', 'apiKey', {
			typeOptions: { password: true },
			required: true,
			help: 'Created in the console of the service',
		}),
		property('boolean', 'API Key Ends With an App Code', 'keyIncludesApp', {
			default: false,
			help: 'Whether the key has the form API_KEY-APP_CODE. Every chat then uses that application, workflow or super assistant, and App Code in the nodes stays empty.',
		}),
		entriesField('Extra Headers', 'extraHeaders', {
			help: 'Sent with every request to the service, e.g. the key of a gateway, or a tenant',
			entry: [
				'Header',
				'header',
				[
					textField('Name', 'name', { placeholder: 'e.g. X-Tenant' }),
					textField('Value', 'value', { typeOptions: { password: true } }),
				],
			],
		}),
		entriesField('Chat Models', 'chatModels', {
			help: 'Codes of the chat models of your account, for the lists of the nodes',
			entry: ['Chat Model', 'model', [code, textField('Display Name', 'name')]],
		}),
		entriesField('Video Models', 'videoModels', {
			help: 'Codes of the video models of your account, for Create Video',
			entry: ['Video Model', 'model', [code, behavesLike]],
		}),
	];

	/** Adds the key. A function, because n8n would evaluate an expression in its sandbox for every request. */
	authenticate = async (
		{ apiKey }: ICredentialDataDecryptedObject,
		request: IHttpRequestOptions,
	): Promise<IHttpRequestOptions> => ({
		...request,
		headers: { ...request.headers, Authorization: `Bearer ${String(apiKey ?? '').trim()}` },
	});
}
