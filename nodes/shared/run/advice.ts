import type { AdviceCode, ServiceError } from '../../client/errors';

const BASE_URL = 'the Base URL in the Agent Video API credential';
const AGAIN = 'Retry; if it happens again';

/** What a person in n8n can do about a failure of the service. */
const SENTENCES: Readonly<Record<AdviceCode, string>> = {
	checkAddress: `Check ${BASE_URL}`,
	askFirewall:
		'Ask its operator to let requests of n8n pass, or check whether the network of n8n needs a proxy',
	checkAddressOrCode: `Check ${BASE_URL}, and the code of the model or application`,
	checkHostAndPort: 'Check host and port of the Base URL, and that the service is running',
	checkDns: 'Check the Base URL, and that DNS works on the machine that runs n8n',
	checkCertificate:
		'Check the certificate of the host in the Base URL, and that https:// is right',
	checkConnection: `${AGAIN}, check scheme and port of the Base URL, and look for a proxy or firewall in between`,
	useFinalAddress: `Check ${BASE_URL}: enter the final address, often with https:// instead of http://`,
	checkKey:
		'Check the API Key in the Agent Video API credential, and that the Base URL is of the same service',
	useAnotherKey:
		'Use another API key, or ask the operator of the service, or of a firewall in between',
	topUp: 'Top up the account, then retry this execution',
	checkAppCode: 'Check App Code, or the end of the API key if the code is there',
	checkCreditAndModel:
		'Top up the account, or choose another model. If the API key ends with an app code, check that as well',
	checkAccess:
		'Choose another model, or use another API key. If the key ends with an app code, publish that application',
	publishApp: 'Publish the application, or use an API key of its creator',
	correctWhatIsNamed: 'Correct what the message of the service names',
	chooseModel: 'Choose another model',
	rephrasePrompt: 'Rephrase the prompt, or use other reference files',
	rephraseQuestion:
		'Rephrase the question. Words of the answer or of the knowledge base may be the cause as well',
	askForLess: 'Ask for less in one call, or raise Timeout under Options',
	continueSession: 'Request less in one call, or continue in the same session',
	shortenReply:
		'Ask for a shorter reply, or raise the limit: it is that of the service, or one in Extra Body Fields',
	shortenConversation: 'Shorten the conversation',
	askAgain: 'Ask again, or shorten the conversation',
	describeFields: 'Describe the fields more clearly, or set Repair Attempts',
	tryLater: 'Retry in a minute; if it happens again, contact the operator of the service',
	slowDown: 'Wait a minute, or send fewer requests at once',
	raiseTimeout:
		'Retry; if it happens again, check host and port of the Base URL, or raise Timeout under Options where the node has it',
	tasksContinue: 'Nothing more was sent. Tasks that were created continue',
	checkTask:
		'First check whether the service has the task. If it happens again, look for a proxy or firewall in between, or raise Timeout under Options',
	findProxy: `${AGAIN}, look for a proxy or a cache that changes responses, mixes them up or cuts them off`,
};

/** What a person in n8n can do, as a sentence without a period. */
export const adviceOf = (code: AdviceCode) => SENTENCES[code];

/** What can be done about an error, as sentences without periods: codes in words, and the words of the host's own errors. */
export function sentencesOf({ advice }: ServiceError): readonly string[] {
	return advice.map((each) => new Map(Object.entries(SENTENCES)).get(each) ?? each);
}
