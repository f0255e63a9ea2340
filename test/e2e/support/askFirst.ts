import { SMTP_CREDENTIAL } from '../../../lab/n8n/readExample';
import { node } from './buildWorkflow';
import { base, set } from './drawAgent';

export const DECLINED = '{"error":"A person declined this"}';

/** A tool branch: asks a person by mail, then does the work, or tells that the person has declined. */
export function askFirst(tool: string, back = 'Agent') {
	const [approved, work, decline] = [`${tool} approved?`, `Do ${tool}`, `Decline ${tool}`];
	const ask = node(tool, base('emailSend'), 2.1, {
		parameters: {
			operation: 'sendAndWait',
			fromEmail: 'n8n@example.com',
			toEmail: 'ada@example.com',
			subject: '={{ $json.tool_call.tool }} {{ $json.city }}?',
			message: 'The agent asks for your approval.',
			approvalOptions: { values: { approvalType: 'double' } },
		},
		webhookId: `approval-${tool}`,
	});
	return {
		nodes: [
			{ ...ask, credentials: { smtp: { id: '', name: SMTP_CREDENTIAL } } },
			node(approved, base('if'), 2.2, {
				parameters: {
					conditions: {
						options: { version: 2, typeValidation: 'strict' },
						combinator: 'and',
						conditions: [
							{
								leftValue: '={{ $json.data.approved }}',
								rightValue: '',
								operator: { type: 'boolean', operation: 'true', singleValue: true },
							},
						],
					},
				},
			}),
			// The reply of the person has replaced the item, so the argument is read from the agent.
			set(work, `={{ { "done": "${tool} " + $('Agent').item.json.city } }}`),
			set(decline, DECLINED),
		],
		wires: {
			[tool]: [[approved]],
			[approved]: [[work], [decline]],
			[work]: [[back]],
			[decline]: [[back]],
		},
	};
}
