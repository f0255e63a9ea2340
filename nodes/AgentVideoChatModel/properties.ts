import { bindingFields, imagesField } from '../shared/chat/properties';
import { callFields, modelRequestFields, retryFields } from '../shared/chat/requestOptions';
import { changed, form, notice, options } from '../shared/form/form';

/** The form of Agent Video Chat Model, without what the connected agent or chain sets. */
export const chatModelForm = form({
	...bindingFields,
	assistantNotice: notice(
		'Do not enter the code of a super assistant, which runs its tools itself: use the Super Assistant node for it.',
		{ displayOptions: { show: { answeredBy: ['app'] } } },
	),
	images: changed(imagesField, {
		description:
			'Images to add to the last user message, in place of those that the agent passes on without a URL. Binary fields are read from the item of the agent or chain.',
	}),
	options: options({ ...modelRequestFields, ...retryFields, ...callFields }),
});
