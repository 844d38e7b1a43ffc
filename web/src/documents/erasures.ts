import { signal } from "@preact/signals";
import { recall, remember, tab } from "../app/storage.ts";
import { eraseDocument } from "./calls.ts";

const KEPT = "erasures";

/** The erasures that were begun in this tab, the newest first. They name nothing that is erased. */
export const erasures = signal<readonly string[]>((recall(KEPT, tab) ?? "").split(" ").filter(Boolean));

/** Delete a document with all of its traces, and remember the erasure, whose receipt comes later. */
export async function erase(document_id: string): Promise<void> {
  const begun = await eraseDocument(document_id);
  keep([begun, ...erasures.value.filter((each) => each !== begun)]);
}

export function forgetErasure(erasure_id: string): void {
  keep(erasures.value.filter((each) => each !== erasure_id));
}

function keep(ids: readonly string[]): void {
  erasures.value = ids;
  remember(KEPT, ids.join(" ") || null, tab);
}
