/** The stored text of a document's pages, and where in it a quote stands. */

import { api, data } from "../api/client.ts";
import type { components } from "../api/schema";
import type { Citation } from "../api/types.ts";
import type { Surroundings } from "./find.ts";

export type StoredPage = components["schemas"]["PageTextOut"];

export function storedPage(document_id: string, number: number): Promise<StoredPage> {
  return data(api().GET("/documents/{document_id}/pages/{number}", { params: { path: { document_id, number } } }));
}

/** A text in three parts: before the quote, the quote, after it. */
export type Parted = readonly [string, string, string];

/** Returns a page's text parted at a citation's quote; null if the quote does not stand at its positions. */
export function parted(page: Pick<StoredPage, "text" | "char_start">, citation: Citation): Parted | null {
  const characters = [...page.text]; // positions count code points
  const start = Math.max(0, citation.char_start - page.char_start);
  const end = citation.char_end - page.char_start;
  const quote = characters.slice(start, Math.max(start, end)).join("");
  // Of a quote over a page break, this page has the beginning or the end.
  const isPart = quote.trim() !== "" && withoutSpace(citation.quote).includes(withoutSpace(quote));
  const isWhole = citation.page_start !== citation.page_end || withoutSpace(quote) === withoutSpace(citation.quote);
  if (citation.corrected || !isPart || !isWhole) return null;
  return [characters.slice(0, start).join(""), quote, characters.slice(end).join("")];
}

function withoutSpace(text: string): string {
  return text.replace(/\s+/g, "");
}

/** Returns the stored text around a citation's quote; null if the document is another one by now, or not to be had. */
export async function surroundingsOf(citation: Citation): Promise<Surroundings | null> {
  try {
    const parts = parted(await storedPage(citation.document_id, citation.page_start), citation);
    return parts && { before: parts[0], after: parts[2] };
  } catch {
    return null;
  }
}
