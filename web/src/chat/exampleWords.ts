/** How questions to begin with are worded. */

import type { Document } from "../api/types.ts";
import { plain } from "./plain.ts";

export const MOST = 3;
const MOST_CHARACTERS = 80;
const HEADING = /^(?:\d+(?:\.\d+)*[.)]?\s+)?(?=.*\p{Ll})(\p{Lu}[^.!?:;|]{2,46}[^.!?:;|\d])$/u; // not "WARNING", nor "Potato 15"

type Asking = { about: (title: string) => string; heading: (words: string) => string };

// In the language of the document, which is that of the answer; the service itself asks in these words.
const ENGLISH: Asking = {
  about: (title) => `What is “${title}” about?`,
  heading: (words) => `What do the documents say about “${words}”?`,
};
const LITHUANIAN: Asking = {
  about: (title) => `Apie ką yra „${title}“?`,
  heading: (words) => `Ką dokumentai sako apie „${words}“?`,
};

/**
 * The first document is asked about as a whole, the others by a heading where they have one; of an FAQ its own question.
 */
export function chosenQuestions(found: readonly { each: Document; headings: readonly string[] }[]): string[] {
  const questions = found.map(({ each, headings }, place) => {
    if (isQuestion(each)) return plain(each.title);
    const asking = askingAbout(each);
    const heading = place > 0 ? headings[Math.floor(headings.length / 2)] : undefined;
    return heading ? asking.heading(heading) : asking.about(shortTitle(each.title));
  });
  // With few documents their headings fill the rest.
  const more = found.flatMap(({ each, headings }) => headings.map((heading) => askingAbout(each).heading(heading)));
  return [...new Set([...questions, ...more])].slice(0, MOST);
}

/** The headings that a page's passages stand below, each once, without its number: short phrases only. */
export function headingsOf(sections: readonly string[]): string[] {
  const last = sections.map((section) => plain(section).split(" > ").at(-1) ?? "");
  return [...new Set(last.map((heading) => HEADING.exec(heading.trim())?.[1]?.trim() ?? ""))].filter(Boolean);
}

/** A title up to its colon or dash, if that is a name of its own. */
export function shortTitle(title: string): string {
  const [first = "", ...rest] = plain(title).split(/\s*[:|–—]\s+/u);
  return cutAfterAWord(rest.length && first.length >= 8 ? first : plain(title));
}

// Writing with hardly a space is cut between two characters, never within one.
function cutAfterAWord(text: string): string {
  const characters = [...text];
  if (characters.length <= MOST_CHARACTERS) return text;
  const kept = characters.slice(0, MOST_CHARACTERS + 1);
  const words = [...kept.join("").replace(/\s+\S*$/u, "")];
  const cut = words.length > MOST_CHARACTERS || words.length < MOST_CHARACTERS / 2 ? kept.slice(0, -1) : words;
  return `${cut.join("")}…`;
}

function isQuestion({ source_type, title }: Document): boolean {
  return (source_type === "faq" || source_type === "resolved_query") && title.length <= MOST_CHARACTERS;
}

function askingAbout({ language }: Document): Asking {
  return language === "lt" ? LITHUANIAN : ENGLISH;
}
