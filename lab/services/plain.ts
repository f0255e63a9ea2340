/** A text for a terminal, which obeys some characters and hides others. */
export const plain = (text: string) => text.replace(/(?!\n)[\p{Cc}\p{Bidi_Control}]/gu, '·');
