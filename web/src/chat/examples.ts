/** Questions to begin with, made from the documents at hand. */

import { api, data } from "../api/client.ts";
import type { Document } from "../api/types.ts";
import { t } from "../i18n/chat.ts";
import { chosenQuestions, headingsOf, MOST } from "./exampleWords.ts";
import type { ScopedDocument } from "./scope.ts";

const LOOKED_AT = 20; // documents, newest first
const FIRST_PAGES = 2; // covers and contents of a longer one: their lines are no headings

/** Three questions about different documents, or about those that one is limited to; none while there is nothing to ask about. */
export async function exampleQuestions(scope: readonly ScopedDocument[]): Promise<string[]> {
  if (scope.length) return questionsAbout(await Promise.all(scope.slice(0, MOST).map(read)));
  const { documents } = await data(api().GET("/documents", { params: { query: { limit: LOOKED_AT } } }));
  const ready = documents.filter(({ status }) => status === "READY" || status === "PARTIAL");
  const questions = await questionsAbout(spread(ready, MOST));
  return questions.length ? [...questions, t("example_documents")].slice(0, MOST) : [];
}

function read({ document_id }: ScopedDocument): Promise<Document> {
  return data(api().GET("/documents/{document_id}", { params: { path: { document_id } } }));
}

async function questionsAbout(documents: readonly Document[]): Promise<string[]> {
  return chosenQuestions(
    await Promise.all(documents.map(async (each) => ({ each, headings: await headingsIn(each) }))),
  );
}

/** At most `most` of the newest documents, first those whose title names no other: the rest cannot be asked about by it. */
function spread(documents: readonly Document[], most: number): Document[] {
  const titles = new Map<string, Document[]>();
  for (const each of documents) titles.set(each.title, [...(titles.get(each.title) ?? []), each]);
  const groups = [...titles.values()].sort((one, other) => Number(one.length > 1) - Number(other.length > 1));
  return groups.flatMap(([first]) => (first ? [first] : [])).slice(0, most);
}

async function headingsIn({ document_id, page_count, source_type }: Document): Promise<string[]> {
  if (source_type !== "pdf" || page_count < 1) return [];
  const first = page_count > FIRST_PAGES ? FIRST_PAGES : 0;
  const number = first + Math.ceil((page_count - first) / 2);
  const params = { path: { document_id, number } };
  try {
    const { passages } = await data(api().GET("/documents/{document_id}/pages/{number}", { params }));
    return headingsOf(passages.map(({ section }) => section));
  } catch {
    return []; // then it is asked about as a whole
  }
}
