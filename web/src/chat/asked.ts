/** Questions without their answer yet. The tab keeps them, so that they are not lost with the page. */

import { recall, remember, tab } from "../app/storage.ts";
import type { ScopedDocument } from "./scope.ts";

const TITLE_CHARACTERS = 80; // of a question, as TITLE_CHARACTERS in functions/query/history.py
/** What the server leaves out of a question: `normalized` in functions/query/understanding/question.py. */
const INVISIBLE = /[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\u00ad\p{Cs}]|(?!\s)\p{Cc}/gu;

export interface Asked {
  question: string;
  scope: readonly ScopedDocument[];
  at: string;
  /** The answers of the conversation that there were before; of a new one the conversations. */
  before: readonly string[];
}

/** The question of a conversation, or of the one that is not begun yet. */
export function askedIn(id: string | null): Asked | null {
  return JSON.parse(recall(nameOf(id), tab) ?? "null");
}

export function keepAsked(id: string | null, asked: Asked | null): void {
  remember(nameOf(id), asked && JSON.stringify(asked), tab);
}

/** Whether two texts are the same question for the server. */
export function isSame(one: string, other: string): boolean {
  return normalized(one) === normalized(other);
}

/** Whether a conversation that begins with this question has this title. */
export function isTitleOf(title: string, question: string): boolean {
  return title !== "" && title === [...normalized(question)].slice(0, TITLE_CHARACTERS).join("");
}

function nameOf(id: string | null): string {
  return `asked.${id ?? "new"}`;
}

function normalized(text: string): string {
  return text.replace(INVISIBLE, "").normalize("NFC").replace(/\s+/g, " ").trim();
}
