// Controls and what has no width or turns the direction of the text; joiners, which Persian and emoji need, stay.
const HIDDEN = /(?![\t\n\r\u200c\u200d])[\p{Cc}\p{Cf}]/gu;

/** Text of documents and answers as it may be shown: without what could hide text, or turn the text around it. */
export function plain(text: string): string {
  return text.replace(HIDDEN, "");
}
