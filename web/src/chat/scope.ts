import { signal } from "@preact/signals";

/** A document that questions are limited to. */
export interface ScopedDocument {
  document_id: string;
  title: string;
}

/** The documents that the next questions are limited to; none means all. The documents view sets it, too. */
export const scope = signal<readonly ScopedDocument[]>([]);

/** Limit the next questions to a document, beside those that they are limited to, or no longer. */
export function limitTo(document: ScopedDocument, limited: boolean): void {
  const others = scope.value.filter((each) => each.document_id !== document.document_id);
  scope.value = limited ? [...others, document] : others;
}
