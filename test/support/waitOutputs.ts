/** Outputs of Wait for Video, by index. */
export const COMPLETED = 0;
export const FAILED = 1;
/** Only with Wait Mode: Ask Once. */
export const GENERATING = 2;
/** Only with On Error: Continue (using error output), and not with Ask Once. */
export const ERROR = 2;
