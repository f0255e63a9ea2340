/**
 * Condition for the display of a field: the node is a tool of an agent.
 *
 * n8n 2.41.1, n8n-workflow/dist/cjs/node-helpers.js
 * Without it: a form shows the fields of a tool and those of a node side by side, or neither.
 */
export const IS_TOOL = { '@tool': [true] };

/**
 * Comment at the start of an expression that makes the editor show the field as defined by the model.
 *
 * n8n 2.41.1, n8n-workflow/dist/cjs/constants.js
 * Without it: the editor shows the expression.
 */
export const DEFINED_BY_MODEL = '/*n8n-auto-generated-fromAI-override*/';

/**
 * A parameter as it is entered, in the expression of a subtitle: also an expression, which is not evaluated.
 *
 * n8n 2.41.1, n8n-workflow/dist/cjs/workflow-data-proxy.js
 * Without it: the node has no subtitle.
 */
export const entered = (name: string) => `$rawParameter.${name}`;

/** All versions of a node of this package. */
const ALL_VERSIONS = { show: { '@version': [1] } };

/**
 * What makes n8n keep the value of a parameter that it shows nowhere: neither in the editor nor in the types for an AI that builds
 * workflows.
 *
 * n8n 2.41.1, n8n-workflow/dist/cjs/node-helpers.js (getNodeParameters), @n8n/workflow-sdk/dist/generate-types/generate-types.js
 * Without it: n8n drops what the form does not have, as it does anyway, and the node cannot reject it.
 */
export const KEPT_UNSEEN = {
	type: 'hidden',
	displayOptions: ALL_VERSIONS,
	disabledOptions: ALL_VERSIONS,
} as const;
