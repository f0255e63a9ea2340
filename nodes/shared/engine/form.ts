/** Condition for the display of a field: the node is a tool of an agent. */
export const IS_TOOL = { '@tool': [true] };

/** Comment at the start of an expression that makes the editor show the field as defined by the model. */
export const DEFINED_BY_MODEL = '/*n8n-auto-generated-fromAI-override*/';

/** A parameter as it is entered, in the expression of a subtitle: also an expression, which is not evaluated. */
export const entered = (name: string) => `$rawParameter.${name}`;
