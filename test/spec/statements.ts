// cspell:ignore CAMSVW CAMSVWK CAMSV
/** Whether a statement holds here. `silent`: the specification says that it does not show it, so that nothing can be checked. */
export type State = 'holds' | 'silent';

/** One statement of the specification, and what shows that it holds. */
export interface Statement {
	/** Section and number within it: `2.1.7`. */
	readonly id: string;
	/** The statement in a short sentence of our own. */
	readonly text: string;
	/** The nodes that it concerns, by the letters of NODE_LETTERS. */
	readonly nodes: string;
	/** Whether the emulator behaves like this; false also where there is nothing to imitate. */
	readonly isEmulated: boolean;
	/**
	 * The tests that show it: `walk: NAME` is a check of `walkChecks.ts`, `example: NAME` a call of `exampleCalls.ts`,
	 * `FILE: TITLE` a test of `test/FILE.test.ts`.
	 */
	readonly proofs: readonly string[];
	readonly state: State;
	/** Why it does not hold wholly, or how it is read. */
	readonly note?: string;
}

export interface Section {
	readonly number: string;
	readonly title: string;
	readonly statements: readonly Statement[];
}

/** The letters that stand for nodes in the rows. */
export const NODE_LETTERS: Readonly<Record<string, string>> = {
	C: 'Chat Completion',
	A: 'Agent with Tools',
	M: 'Chat Model',
	S: 'Super Assistant',
	V: 'Create Video',
	W: 'Wait for Video',
	K: 'Credential',
};

/**
 * A section: a row a line, its parts between bars: the statement; the nodes that it concerns, by their letters; `emulator`
 * where the emulator does it; the proofs; `note: ` with a note. `-` is nothing. What the specification does not show is
 * `silent`, after the statement.
 */
function section(number: string, title: string, table: string): Section {
	const statements = table
		.trim()
		.split('\n')
		.map((line, index): Statement => {
			const [text = '', nodes = '', emulator, ...more] = line.trim().split(' | ');
			const isSilent = nodes === 'silent';
			const all = isSilent && emulator !== undefined ? [emulator] : more;
			const notes = all.filter((each) => each.startsWith('note: '));
			return {
				id: `${number}.${index + 1}`,
				text,
				nodes: isSilent ? '' : nodes.replace('-', ''),
				isEmulated: emulator === 'emulator',
				proofs: all.filter((each) => !notes.includes(each)),
				state: isSilent ? 'silent' : 'holds',
				...(notes.length > 0 && { note: notes.join().slice('note: '.length) }),
			};
		});
	return { number, title, statements };
}

/** Every statement of the specification, section by section. */
export const SECTIONS: readonly Section[] = [
	section(
		'1',
		'What the service does',
		`
A chat completion answers a list of messages | CAMS | emulator | example: a chat with the default model
app_code binds a request to an application | CAM | emulator | example: an application
app_code binds a request to a workflow | CAM | emulator | example: a workflow
app_code binds a request to a super assistant | S | emulator | example: super assistant: a new session
The binding brings knowledge bases, plugins and skills | CAMS | emulator | walk: knowledge | walk: assistant body
Without app_code the request goes to the model | CAM | emulator | example: a chat with the default model | emulator/chatResponse: 2.6 has no extra fields without an application
Each request can choose its model | CAM | emulator | example: an application with another model
The reply is one body or a stream | CAMS | emulator | example: a chat with the default model | example: a chat with the default model, streamed
Clients of the third-party schema work | - | emulator | emulator/openaiClient: 4 create
Function calling is supported | CAM | emulator | example: function calling, both rounds
JSON mode is supported | CAM | emulator | example: JSON mode
Thinking can be controlled | CAM | emulator | example: thinking on
The input can be text and images | CAMS | emulator | example: a text with an image
The output can be text, images, videos and files | CAMS | emulator | client/result: media in a reply | emulator/chatResponse: 2.6 agent describes the plugin, and the generated file can be downloaded
A video creation returns a task_id | V | emulator | walk: video task
A task query reports the state and the address of the video | W | emulator | walk: video task
All video models share one format, selected by model | V | emulator | example: video-m1: text to video | example: video-m8: text to video
A video is made from text | V | emulator | example: video-m1: text to video
A video is made from images: reference, or first and last frame | V | emulator | example: video-m1: image to video, reference, 9 of 9 | example: video-m1: image to video, first_last_frame, 2 of 2
A video is continued or edited | V | emulator | example: video-m1: video continuation | example: video-m5: video editing
`,
	),
	section(
		'2.1',
		'Chat request body',
		`
messages is a list and required | CAMS | emulator | walk: no messages
The content of a message is not empty | CAMS | emulator | walk: empty messages
app_code is the code of an application, workflow or super assistant | CAMS | emulator | example: an application | example: a workflow | example: super assistant: a new session
Without app_code no application is bound | CAM | emulator | example: a chat with the default model
model is a model code | CAM | emulator | example: a chat with a model
Without model the default model of the application answers | CAM | emulator | walk: default model
model is ignored when app_code is a super assistant | S | emulator | walk: assistant ignores model
session_id has an effect for super assistants alone | S | emulator | emulator/superAssistant: 2.7 a new session_id starts a session; other applications ignore session_id
session_id reuses context and memory of the session | S | emulator | example: super assistant: a session that exists | walk: session
Without session_id a one-off session is made | S | emulator | example: super assistant: a new session | walk: session
temperature is from 0 to 1 | CAM | emulator | walk: ranges | example: temperature
temperature defaults to that of the application | CAM | emulator | example: an application | walk: temperature of the application
A higher temperature is more creative, a lower one more rigorous | CAM | emulator | emulator/chatRequest: 2.1 temperature, top_p and the penalties each change the answer
top_p is an integer, 1 by default | CAM | emulator | example: top_p | note: fractions are accepted as well: an integer range leaves nothing to control
top_p controls the sampling range | CAM | emulator | emulator/chatRequest: 2.1 temperature, top_p and the penalties each change the answer
frequency_penalty is from -2 to 2, 0 by default | CAM | emulator | walk: ranges | example: penalties
A larger frequency_penalty gives more varied content | CAM | emulator | emulator/chatRequest: 2.1 temperature, top_p and the penalties each change the answer
presence_penalty is from -2 to 2, 0 by default | CAM | emulator | walk: ranges | example: penalties
A larger presence_penalty gives more varied content | CAM | emulator | emulator/chatRequest: 2.1 temperature, top_p and the penalties each change the answer
stream is false by default | CAMS | emulator | example: a chat with the default model | example: a chat with the default model, streamed
stream_options has an effect only with stream | CAMS | emulator | example: a chat with the default model | emulator/chatStream: 2.5 sends no usage without include_usage
include_usage is false by default | CAMS | emulator | example: a stream without usage | emulator/chatStream: 2.5 sends no usage without include_usage | note: the nodes ask for it, because they report the usage; an option switches it off
With include_usage the last chunk has the token usage | CAMS | emulator | example: a chat with the default model, streamed | walk: stream chunks
Generation stops when a stop word appears | CAM | emulator | emulator/chatRequest: 2.1 stop truncates the answer before the first stop word, streamed or not
stop has at most 4 entries | CAM | emulator | walk: ranges | example: four stop words
tool_choice auto: the model decides | CAM | emulator | example: tool_choice auto
tool_choice none: no tool call | CAM | emulator | example: tool_choice none | emulator/tools: 2.1 tool_choice: none makes no call, required makes at least one
tool_choice required: at least one tool call | CAM | emulator | example: tool_choice required | emulator/tools: 2.1 tool_choice: none makes no call, required makes at least one
tools declares the tools | CAM | emulator | example: function calling, both rounds
response_format json_object constrains the output to JSON | CAM | emulator | example: JSON mode | emulator/jsonMode: %s answers with the keys that the message lists
In JSON mode the prompt asks for JSON as well | CAM | emulator | walk: JSON mode without the word | note: the nodes send the prompt unchanged; the error of the service says what is missing
thinking enabled forces thinking on | CAM | emulator | example: thinking on | walk: reasoning
thinking disabled forces thinking off | CAM | emulator | example: thinking off | walk: reasoning
reasoning_effort is passed on unchanged | CAM | emulator | example: reasoning_effort max
The setting of an application is the system prompt | CAM | emulator | emulator/chatRequest: 2.1 the setting of an application is the system prompt
Its default model is the model | CAM | emulator | walk: default model
Its temperature is the temperature, unless the request has one | CAM | emulator | walk: temperature of the application
A workflow returns the output of its end node | CAM | emulator | example: a workflow | emulator/chatRequest: 2.1 a workflow returns the output of its end node
A super assistant chooses models, plugins and skills itself | S | emulator | walk: assistant body | walk: assistant ignores model
thinking of the request wins over the application, that over the model | CAM | emulator | emulator/chatRequest: 2.1 thinking: the request overrides the application, which overrides the model default
Some models think by default | CAM | emulator | walk: reasoning
reasoning_effort \`none\` is offered | CAM | emulator | example: reasoning_effort none
reasoning_effort \`minimal\` is offered | CAM | emulator | example: reasoning_effort minimal
reasoning_effort \`low\` is offered | CAM | emulator | example: reasoning_effort low
reasoning_effort \`medium\` is offered | CAM | emulator | example: reasoning_effort medium
reasoning_effort \`high\` is offered | CAM | emulator | example: reasoning_effort high
reasoning_effort \`xhigh\` is offered | CAM | emulator | example: reasoning_effort xhigh
Each model decides which values it takes: others can be typed | CAM | emulator | example: reasoning_effort max | walk: unsupported effort
Models without support ignore reasoning_effort | CAM | emulator | emulator/chatRequest: 2.1 reasoning_effort: a higher effort gives longer reasoning; a model without support ignores it
Some models take only a subset | CAM | emulator | walk: unsupported effort
What 2.1 does not forbid can be set for a super assistant, too | S | emulator | example: super assistant: every optional field that it does not forbid | emulator/superAssistant: 2.7 supports response_format json_object
`,
	),
	section(
		'2.2',
		'Message',
		`
Role system | CA | emulator | example: a system message
Role user | CAMS | emulator | example: a chat with the default model
Role assistant | CA | emulator | example: system, user and assistant messages
Role tool, for tool results | CAM | emulator | example: function calling, both rounds
content is not empty in an ordinary message | CAMS | emulator | walk: empty messages
content may be null beside tool_calls | CAM | emulator | example: function calling, both rounds
content is a list of parts for text with images | CAMS | emulator | example: a text with an image
tool_calls stands on assistant messages only | CA | emulator | walk: fields of the wrong role
tool_call_id stands on tool messages only | CA | emulator | walk: fields of the wrong role
tool_call_id is the id of the call that is answered | CAM | emulator | client/messages: order of messages (spec 2.2, 4) | example: function calling, both rounds
A text part has type and text | CAMS | emulator | example: a text with an image
An image part has type and image_url.url | CAMS | emulator | example: a text with an image
The image URL is publicly reachable | CAMS | emulator | walk: image URLs | nodes/chatCompletion: a private image is rejected when the service is on the internet
Image recognition needs the plugin of the application | - | emulator | emulator/messages: 2.2 without the plugin the model replies that it cannot see the image
Or its use in the workflow | CAM | emulator | walk: images in a workflow
Image modification needs a plugin | - | emulator | emulator/messages: 2.2 image editing returns the URL of the generated image
With an image URL as input, the URL of the new image comes out | CAMS | emulator | emulator/messages: 2.2 image editing returns the URL of the generated image
`,
	),
	section(
		'2.3',
		'Tool declaration and tool call',
		`
A declaration has type function and a function with name, description and parameters | CAM | emulator | example: function calling, both rounds
parameters is a schema of type object with properties and required | CAM | emulator | example: function calling, both rounds | emulator/tools: 2.3 arguments satisfy the JSON schema of the tool
A call has id, type function, and a function with name and arguments | CAM | emulator | walk: tool calls | emulator/tools: 2.3 a call has an id, the type function and arguments as a JSON string; content is null
arguments is a text that holds JSON | CAM | emulator | walk: tool calls
A tool result has role tool, tool_call_id and content | CAM | emulator | example: function calling, both rounds
`,
	),
	section(
		'2.4',
		'Non-streamed chat response',
		`
choices is a list with index and message | CAMS | emulator | walk: chat body
finish_reason is there in tool and reasoning replies | CAMS | emulator | walk: tool calls | spec/minimal: a reply after thinking
The role of the reply is assistant | CAMS | emulator | walk: chat body
content is the reply | CAMS | emulator | walk: chat body
content is null when the model asks for tool calls | CAM | emulator | walk: tool calls
reasoning_content is there when the model thinks | CAM | emulator | walk: reasoning
tool_calls is there when the model asks for tools | CAM | emulator | walk: tool calls
finish_reason is tool_calls when tools are requested | CAM | emulator | walk: tool calls
finish_reason is stop at a normal end | CAMS | emulator | walk: chat body
usage.prompt_tokens: tokens of the request | CAMS | emulator | walk: chat body
usage.completion_tokens: tokens of the response | CAMS | emulator | walk: chat body
usage.total_tokens: all tokens | CAMS | emulator | walk: chat body
The usage is that of the model, unprocessed | CAMS | - | client/result: usage is read from the top level or from the choice (spec 2.4, 2.5)
The tokens of a conversation are request plus response | CAMS | emulator | walk: chat body
The request counts setting, history, knowledge and question | CAMS | emulator | emulator/chatResponse: 2.4 usage includes the setting, the history, the retrieved knowledge and the question
A super assistant adds id | S | emulator | walk: assistant body
A super assistant adds object, chat.completion | S | emulator | walk: assistant body
A super assistant adds created, an integer | S | emulator | walk: assistant body
A super assistant adds model, its primary model | S | emulator | walk: assistant body
A super assistant adds session_id | S | emulator | walk: assistant body | walk: session
A super assistant adds tool_calls when tools ran | S | emulator | walk: assistant body
A super assistant adds tool_results with tool_call_id and content | S | emulator | walk: assistant body
`,
	),
	section(
		'2.5',
		'Streamed chat response',
		`
Each event is a line "data: JSON" and a blank line | CAMS | emulator | walk: stream chunks | client/completeChat: chunk boundaries do not change the reply
The stream ends with data: [DONE] | CAMS | emulator | emulator/chatStream: 2.5 is an event stream that ends with [DONE] | client/completeChat: [DONE] completes the reply, even if the server keeps the connection open
choices[].index | CAMS | emulator | walk: stream chunks
delta.role may be in the first chunk | CAMS | emulator | emulator/chatStream: 2.5 sends role, then content word by word, then an empty delta with stop | spec/minimal: a stream
delta.content is the next piece of the answer | CAMS | emulator | walk: streamed and not
delta.reasoning_content is the next piece of the thinking | CAM | emulator | walk: reasoning
The answer follows after the thinking | CAM | emulator | emulator/chatStream: 2.5 sends the reasoning before the answer
finish_reason is null while generating | CAMS | emulator | walk: stream chunks
finish_reason is stop in the final chunk | CAMS | emulator | walk: stream chunks
The delta of the final chunk is empty | CAMS | emulator | walk: stream chunks
choices[].usage is in the last chunk with include_usage | CAMS | emulator | walk: stream chunks
session_id is a text or null | CAMS | emulator | walk: stream chunks | walk: session
model is present in streams of super assistants | S | emulator | spec/minimal: a stream of a super assistant
extension is in streams of super assistants only | S | emulator | walk: stream chunks | spec/minimal: a stream of a super assistant
`,
	),
	section(
		'2.6',
		'Extra fields in chat responses',
		`
knowledge_base.search_hit says whether retrieval had a hit | CA | emulator | walk: knowledge
knowledge_base.first_similarity is the similarity of the first record | CA | emulator | walk: knowledge
knowledge_base is there when retrieval was used | CA | emulator | walk: knowledge | emulator/chatResponse: 2.6 has no extra fields without an application
suggested_questions is a list, if the application recommends questions | CA | emulator | walk: knowledge
agent has status, chain and need_show_plugin | CA | emulator | walk: plugin
An entry of chain has plugin_name, thought and plugin_input | CA | emulator | walk: plugin
agent is there when a plugin or skill was triggered | CA | emulator | walk: plugin
trace_id identifies the request | CAMS | emulator | walk: knowledge | emulator/chatResponse: 2.6 trace_id is unique per request
`,
	),
	section(
		'2.7',
		'Super assistant behavior',
		`
messages carries only the last user message | S | emulator | example: super assistant: a new session | emulator/superAssistant: 2.7 uses the last user message only
History and memory are kept per session_id | S | emulator | walk: session
An existing session_id reuses its session | S | emulator | walk: session
Without one, a one-off session is created and its ID returned | S | emulator | walk: session
model in the request is ignored | S | emulator | walk: assistant ignores model
A call lasts at most 600 seconds | S | emulator | emulator/superAssistant: 2.7 a single call ends after 600 seconds | client/askAssistant: a disconnect after %d s is reported as %s
Streaming is recommended for long tasks | S | emulator | walk: assistant streams by default
The interface itself costs nothing extra | silent | note: a matter of billing
Charges come from the internal steps of the assistant | silent | note: a matter of billing
The media type of a stream is text/event-stream | CAMS | emulator | emulator/chatStream: 2.5 is an event stream that ends with [DONE]
Text comes in delta.content, as in other streams | S | emulator | walk: streamed and not
Tool progress comes in extension | S | emulator | walk: tool progress
tool_start has tool and arguments: the tool is about to run | S | emulator | walk: tool progress
tool_calls has a list: the tools have finished | S | emulator | walk: tool progress
An entry has name, arguments, result and status | S | emulator | walk: tool progress
The status success appears | S | emulator | walk: tool progress
An entry may have elapsed | S | emulator | walk: tool progress | spec/minimal: a stream of a super assistant
A client may ignore extension and join delta.content | S | emulator | walk: streamed and not
The list of chat models, its default and prices | silent | note: codes can be typed
The full structure of agent.chain | silent | note: it comes out unchanged
How images, videos and files stand in a reply | silent | note: links and parts are recognized
`,
	),
	section(
		'2.8',
		'Video creation request',
		`
prompt is required and not empty | V | emulator | walk: required video fields
model is required | V | emulator | walk: required video fields
images are URLs; with them the video is made from images | V | emulator | example: video-m1: image to video, reference, 1 of 9
In first/last-frame mode the first image is the first frame | V | emulator | example: video-m1: image to video, first_last_frame, 2 of 2 | nodes/createVideoReferences: first and last frame, with the only image mode of the model
videos are URLs, for continuation or editing | V | emulator | example: video-m1: video continuation | example: video-m5: video editing
audios are URLs; only video-m1 and video-m2 support them | V | emulator | example: video-m1: image, video and audio
Other models ignore audios | V | emulator | walk: ignored audio
size is the resolution, 480P, 720P or 1080P as a rule | V | emulator | example: video-m1: size 480P
The sizes depend on the model | V | emulator | client/videoModels: size %s
aspect_ratio: common values | V | emulator | example: video-m5: aspect_ratio 4:3 | example: video-m5: aspect_ratio 3:4
aspect_ratio is 16:9 by default | V | emulator | example: video-m1: text to video
Each model has its own aspect ratios | V | emulator | client/videoModels: aspect ratio %s
duration is in whole seconds; its range depends on the model | V | emulator | walk: durations
mode: only video-m5 and video-m6 honor it | V | emulator | example: video-m5: mode pro | client/videoModels: mode %s, in lowercase and in uppercase
mode std is 720P, pro is 1080P | V | emulator | emulator/videoRequest: 2.11 mode "%s"
image_mode is reference or first_last_frame | V | emulator | example: video-m1: image to video, reference, 1 of 9 | example: video-m1: image to video, first_last_frame, 1 of 2
The image modes differ per model | V | emulator | client/videoModels: images with mode %s
generate_audio is true by default | V | emulator | example: video-m1: text to video
generate_audio has an effect for video-m1, video-m2 and video-m5 alone | V | emulator | example: video-m3: text to video | client/videoModels: generated audio: %s
video-m5 keeps the sound of an edited video | V | emulator | example: video-m5: video editing | emulator/videoRequest: 2.8 generate_audio is false when the video is edited
watermark is false by default | V | emulator | example: video-m1: text to video | example: video-m1: watermark true
References are publicly reachable URLs | V | emulator | walk: reference URLs
References are no base64 | V | emulator | walk: reference URLs
At most 9 images | V | emulator | walk: too many files
At most 3 videos | V | emulator | walk: too many files
At most 3 audios | V | emulator | walk: too many files
Videos and audios last at most 15 seconds in total; excess is cut | V | emulator | emulator/videoRequest: 2.8 videos and audios together are truncated to 15 seconds | note: the service cuts; the form says so, because the nodes do not know the length of a file
audios need an image or a video beside them | V | emulator | walk: audio alone
Images, videos and audio together: video-m1 and video-m2 only | V | emulator | example: video-m2: image, video and audio | client/videoModels: images, videos and audio together
`,
	),
	section(
		'2.9',
		'Video creation response',
		`
task_id | V | emulator | walk: video task
status, queued or processing at first | V | emulator | walk: video task | emulator/videoTask: 2.9 a model without a queue starts in processing
model, the code that was used | V | emulator | walk: video task | client/createdTask: the model is the one that the service used, not the one of the request
created_at, which may be null | V | emulator | client/createdTask: created_at %j is output, null is left out | emulator/videoTask: 2.9 has the task, its initial status, the model, and created_at null
No video data at creation | V | emulator | emulator/videoTask: 2.9 has the task, its initial status, the model, and created_at null
`,
	),
	section(
		'2.10',
		'Video task query',
		`
The request has task_id | W | emulator | example: the status of a task
task_id is required | W | emulator | walk: required video fields
The response has task_id | W | emulator | walk: video task
The response has status | W | emulator | walk: video task
The response has model | W | emulator | walk: video task
video_url when completed | W | emulator | walk: video task
video_url is on the CDN of the service, and long-lived | W | emulator | emulator/videoFiles: 2.10 files are public and survive a restart; the journal records whether a key was sent
thumbnail_url when completed, for some models | W | emulator | walk: video task | spec/minimal: a video, from its creation to the finished task
enhanced_prompt when completed, for some models | W | emulator | walk: video task | spec/minimal: a video, from its creation to the finished task
error_message when failed | W | emulator | walk: failed task
Only task_id, status and model while unfinished | W | emulator | emulator/videoTask: 2.10 has only task_id, status and model while unfinished
`,
	),
	section(
		'2.11',
		'Video models',
		`
\`video-m1\` takes text, images, videos and audio together | V | emulator | example: video-m1: text to video | example: video-m1: image, video and audio
\`video-m1\`, aspect_ratio: 16:9, 1:1, 9:16; 16:9 by default | V | emulator | example: video-m1: aspect_ratio 9:16 | client/videoModels: aspect ratio %s
\`video-m1\`, duration: 4, 5, 8, 10, 15 (5) | V | emulator | walk: durations | client/videoModels: duration %i
\`video-m1\`, size: 480P, 720P, 1080P (720P) | V | emulator | example: video-m1: size 480P | client/videoModels: size %s
\`video-m1\`, references: reference 1 to 9 or first_last_frame 1 to 2 images; 3 videos; 3 audios | V | emulator | example: video-m1: image to video, reference, 9 of 9 | example: video-m1: image, video and audio | client/videoModels: images with mode %s
\`video-m2\` takes as video-m1, faster | V | emulator | example: video-m2: text to video | example: video-m2: image, video and audio
\`video-m2\`, aspect_ratio: 16:9, 1:1, 9:16; 16:9 by default | V | emulator | example: video-m2: aspect_ratio 9:16 | client/videoModels: aspect ratio %s
\`video-m2\`, duration: 4, 5, 8, 10, 15 (5) | V | emulator | walk: durations | client/videoModels: duration %i
\`video-m2\`, size: 480P, 720P (720P) | V | emulator | example: video-m2: size 480P | client/videoModels: size %s
\`video-m2\`, references: as video-m1 | V | emulator | example: video-m2: image to video, reference, 9 of 9 | example: video-m2: image, video and audio | client/videoModels: images with mode %s
\`video-m3\` takes text, or images as first and last frame | V | emulator | example: video-m3: text to video | example: video-m3: image to video, first_last_frame, 2 of 2
\`video-m3\`, aspect_ratio: 16:9, 1:1, 9:16; 16:9 by default | V | emulator | example: video-m3: aspect_ratio 9:16 | client/videoModels: aspect ratio %s
\`video-m3\`, duration: 5, 10 (5); 1 to 5 counts as 5, 6 or more as 10 | V | emulator | walk: durations | client/videoModels: duration %i
\`video-m3\`, size: 720P, 1080P (720P) | V | emulator | example: video-m3: size 1080P | client/videoModels: size %s
\`video-m3\`, references: first_last_frame, 2 images | V | emulator | example: video-m3: image to video, first_last_frame, 2 of 2 | client/videoModels: images with mode %s
\`video-m4\` takes text, or one image | V | emulator | example: video-m4: text to video | example: video-m4: image to video, first_last_frame, 1 of 1
\`video-m4\`, aspect_ratio: 16:9, 1:1, 9:16; 16:9 by default | V | emulator | example: video-m4: aspect_ratio 9:16 | client/videoModels: aspect ratio %s
\`video-m4\`, duration: 5, 10 (5), mapped as by video-m3 | V | emulator | walk: durations | client/videoModels: duration %i
\`video-m4\`, size: none | V | emulator | example: video-m4: text to video | client/videoModels: size %s
\`video-m4\`, references: first_last_frame, 1 image | V | emulator | example: video-m4: image to video, first_last_frame, 1 of 1 | client/videoModels: images with mode %s
\`video-m5\` takes text, images in both modes, video editing, generated sound | V | emulator | example: video-m5: text to video | example: video-m5: video editing
\`video-m5\`, aspect_ratio: 16:9, 9:16, 1:1, 4:3, 3:4; 16:9 by default | V | emulator | example: video-m5: aspect_ratio 9:16 | client/videoModels: aspect ratio %s
\`video-m5\`, duration: 3, 5, 8, 10, 15 (5); ignored when a video is edited | V | emulator | walk: durations | client/videoModels: duration %i
\`video-m5\`, size: none: mode std (720P) or pro (1080P), default std | V | emulator | example: video-m5: mode pro | client/videoModels: size %s
\`video-m5\`, references: reference 1 to 7 or first_last_frame 1 to 2 images; 1 video to edit | V | emulator | example: video-m5: image to video, reference, 7 of 7 | example: video-m5: video editing | client/videoModels: images with mode %s
\`video-m6\` takes text, or images as first and last frame | V | emulator | example: video-m6: text to video | example: video-m6: image to video, first_last_frame, 2 of 2
\`video-m6\`, aspect_ratio: 16:9, 1:1, 9:16; 16:9 by default | V | emulator | example: video-m6: aspect_ratio 9:16 | client/videoModels: aspect ratio %s
\`video-m6\`, duration: 5, 10 (5) | V | emulator | walk: durations | client/videoModels: duration %i
\`video-m6\`, size: 720p, 1080p (720p), in lower case | V | emulator | example: video-m6: size and mode that mean the same | client/videoModels: size %s
\`video-m6\`, references: first_last_frame, 2 images | V | emulator | example: video-m6: image to video, first_last_frame, 2 of 2 | client/videoModels: images with mode %s
\`video-m7\` takes text, or images as reference | V | emulator | example: video-m7: text to video | example: video-m7: image to video, reference, 5 of 5
\`video-m7\`, aspect_ratio: 16:9, 1:1, 9:16; 16:9 by default | V | emulator | example: video-m7: aspect_ratio 9:16 | client/videoModels: aspect ratio %s
\`video-m7\`, duration: 4, 8, 12 (8); others snap to the nearest | V | emulator | walk: durations | client/videoModels: duration %i
\`video-m7\`, size: none | V | emulator | example: video-m7: text to video | client/videoModels: size %s
\`video-m7\`, references: reference, 5 images | V | emulator | example: video-m7: image to video, reference, 5 of 5 | client/videoModels: images with mode %s
\`video-m8\` takes text, or images as reference | V | emulator | example: video-m8: text to video | example: video-m8: image to video, reference, 3 of 3
\`video-m8\`, aspect_ratio: 16:9, 1:1, 9:16; 16:9 by default | V | emulator | example: video-m8: aspect_ratio 9:16 | client/videoModels: aspect ratio %s
\`video-m8\`, duration: 8 (8) | V | emulator | walk: durations | client/videoModels: duration %i
\`video-m8\`, size: none | V | emulator | example: video-m8: text to video | client/videoModels: size %s
\`video-m8\`, references: reference, 3 images | V | emulator | example: video-m8: image to video, reference, 3 of 3 | client/videoModels: images with mode %s
`,
	),
	section(
		'3.1',
		'Video task states',
		`
\`init\` is unfinished | W | emulator | emulator/videoTask: 3.1 a task passes through queued, init, processing and completed | client/pollTask: a task with the status %s is polled further
\`queued\` is unfinished | W | emulator | emulator/videoTask: 3.1 a task passes through queued, init, processing and completed | client/pollTask: a task with the status %s is polled further
\`processing\` is unfinished | W | emulator | emulator/videoTask: 3.1 a task passes through queued, init, processing and completed | client/pollTask: a task with the status %s is polled further
\`completed\` is final and has video_url | W | emulator | walk: video task
\`failed\` is final and has error_message | W | emulator | walk: failed task
\`unknown\`: the query is repeated later | W | emulator | emulator/videoTask: 3.1 unknown-task passes through unknown | client/pollTask: a task with the status %s is polled further
An accepted creation is queued or processing, with a task_id | V | emulator | walk: video task
A generation that succeeds is completed | W | emulator | walk: video task
A generation that fails, for example in moderation, is failed | W | emulator | walk: failed task | emulator/videoTask: 3.1 fail-task and moderated-task fail after acceptance
Moves among init, queued, processing and unknown | silent | note: any order is accepted
A query every 5 to 10 seconds | W | - | client/pollTask: the intervals grow from 5 to 10 seconds (spec 3.1)
Stop on completed or failed | W | - | client/pollTask: a task that is already completed is detected by the first poll | client/pollTask: a failed task keeps the error message of the service
Give up after 10 minutes and count the task as failed | W | - | client/pollTask: a task that never finishes times out at the deadline, after a last poll there | nodes/waitForVideoSuspend: polling times out after ten minutes, to the second
`,
	),
	section(
		'3.2',
		'Chat finish reasons',
		`
null while streaming | CAMS | emulator | walk: stream chunks
stop at a normal end | CAMS | emulator | walk: chat body
tool_calls when the model requests tools | CAM | emulator | walk: tool calls
`,
	),
	section(
		'4',
		'Endpoints',
		`
Every endpoint takes POST | CAMSVW | emulator | emulator/endpoints: 4 %s accepts POST only
Every request has Content-Type: application/json | CAMSVW | emulator | emulator/endpoints: 4 %s accepts application/json only
Every request has the Authorization header | CAMSVW | emulator | emulator/endpoints: 5 %s responds with 401 without a valid key
POST /v1/chat/completions | CAMS | emulator | example: a chat with the default model
POST /v1/videos/generations | V | emulator | example: video-m1: text to video
POST /v1/videos/tasks | W | emulator | example: the status of a task
Function calling 1: tools, and tool_choice if wanted, are sent | CAM | emulator | example: tool_choice auto
Function calling 2: finish_reason tool_calls and message.tool_calls come back | CAM | emulator | walk: tool calls
Function calling 3: assistant message and tool results are appended, all messages and tools sent again | CAM | emulator | example: function calling, both rounds
Function calling 4: the final answer has finish_reason stop | CAM | emulator | walk: agent loop
Support for function calling differs per model | CAM | emulator | walk: a model without function calling
Clients of the third-party schema use {base_url}/v1 | K | emulator | emulator/openaiClient: 4 create | walk: base URL
Their key is the API key | K | emulator | walk: base URL
The app code can be appended to the key, after a hyphen | CAMSVWK | emulator | nodes/keyWithApp: uses that application, with App Code empty | emulator/endpoints: 4 the application can be appended to the key
An endpoint that lists the models | silent | note: the nodes call none
`,
	),
	section(
		'5',
		'Authentication',
		`
Authorization: Bearer API_KEY on every endpoint | CAMSVW | emulator | example: a chat with the default model | emulator/endpoints: 5 %s responds with 401 without a valid key
The key is created in the console | K | - | note: the credential says so
How a key is created | silent
A wrong key: 401 | CAMSVW | emulator | walk: chat status 401
An application that is not public: only its creator, else 403 | CAMS | emulator | walk: private application | emulator/accounts: responds with 403 to any other key, by app_code and by the end of the key
Public applications can be called by their code | CAMS | emulator | example: an application
Insufficient credit: 406 | CAMSV | emulator | walk: chat status 406 | walk: video status 406
`,
	),
	section(
		'6',
		'Events',
		`
Streamed chats are server-sent events | CAMS | emulator | walk: stream chunks
[DONE] marks the end | CAMS | emulator | emulator/chatStream: 2.5 is an event stream that ends with [DONE]
Super assistants send tool_start and tool_calls | S | emulator | walk: tool progress
The first chunk may carry delta.role | CAMS | emulator | emulator/chatStream: 2.5 sends role, then content word by word, then an empty delta with stop
Thinking chunks carry delta.reasoning_content | CAM | emulator | walk: reasoning
Text chunks carry delta.content | CAMS | emulator | walk: streamed and not
The last chunk has finish_reason stop | CAMS | emulator | walk: stream chunks
Usage is in the last chunk with include_usage | CAMS | emulator | walk: stream chunks
There are no push notifications for videos: completion is learned by polling | W | emulator | walk: video task
Webhooks and callbacks | silent | note: the nodes use none
`,
	),
	section(
		'7',
		'Errors',
		`
The body of an error is {error: {message, type}} | CAMSVW | emulator | walk: error body | spec/minimal: an error, also that of a limit
The type invalid_request_error appears | CAMSVW | emulator | walk: error body
Other values of type | silent | note: they are shown as they come
`,
	),
	section(
		'7.1',
		'Chat errors',
		`
400: malformed request | CAMS | emulator | walk: chat status 400 | walk: empty messages
401: wrong API key | CAMS | emulator | walk: chat status 401
402: no such application | CAMS | emulator | walk: chat status 402
403: no access | CAMS | emulator | walk: chat status 403
406: insufficient credit | CAMS | emulator | walk: chat status 406
409: moderation | CAMS | emulator | walk: chat status 409
429: rate limit of the application | CAMS | emulator | walk: chat status 429
503: interface call abnormal | CAMS | emulator | walk: chat status 503
409 counts for the question, the answer and the retrieved knowledge | CAMS | emulator | walk: moderation
429: retry later | CAMS | emulator | nodes/retries: 429 is retried | client/retry: 429 without Retry-After
`,
	),
	section(
		'7.2',
		'Video errors',
		`
400: bad parameters | V | emulator | walk: video status 400
401: wrong API key | VW | emulator | walk: video status 401
402: no such model, or no access to it | V | emulator | walk: video status 402
406: insufficient credit | V | emulator | walk: video status 406
409: moderation | V | emulator | walk: video status 409
503: interface call abnormal | V | emulator | walk: video status 503
An empty prompt: 400 | V | emulator | walk: required video fields
A reference that cannot be reached: 400 | V | emulator | walk: video status 400
409 counts for the prompt and for reference resources | V | emulator | walk: moderation
An accepted task can still fail, with error_message | W | emulator | walk: failed task
`,
	),
	section(
		'8',
		'Limits',
		`
stop: at most 4 entries | CAM | emulator | walk: ranges
temperature: 0 to 1 | CAM | emulator | walk: ranges
frequency_penalty and presence_penalty: -2 to 2 | CAM | emulator | walk: ranges
A call of a super assistant: 600 seconds | S | emulator | emulator/superAssistant: 2.7 a single call ends after 600 seconds
images: at most 9, and the limit of the model | V | emulator | walk: too many files
videos: at most 3 | V | emulator | walk: too many files
audios: at most 3 | V | emulator | walk: too many files
videos and audios: 15 seconds in total, excess truncated | V | emulator | emulator/videoRequest: 2.8 videos and audios together are truncated to 15 seconds
References: public URLs, no base64 | V | emulator | walk: reference URLs
Polling interval: 5 to 10 seconds | W | - | client/pollTask: the intervals grow from 5 to 10 seconds (spec 3.1)
Polling time: at most 10 minutes | W | - | client/pollTask: a task that never finishes times out at the deadline, after a last poll there
A generation takes 30 seconds to several minutes | W | emulator | emulator/videoTask: 3.1 generation times vary from 80 to 100 % of --video-seconds
The number behind 429 | silent
The limits of setting, history and knowledge in tokens | silent
`,
	),
	section(
		'9',
		'Versioning',
		`
Every path begins with /v1 | K | emulator | walk: base URL
Super assistants answer chats since release 4.1.3 | silent | note: the interface does not tell its release
Workflows can use a super assistant in an agent node | CAM | emulator | walk: an assistant in a workflow
The policy of compatibility and deprecation | silent
`,
	),
];
