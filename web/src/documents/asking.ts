import type { Document } from "../api/types.ts";
import { navigate } from "../app/router.ts";
import { scope } from "../chat/scope.ts";
import { t } from "../i18n/documents.ts";
import { toast } from "../ui/toast.ts";
import { openSource } from "../viewer/pane.ts";

/** Whether something of it can be searched. A document that is being read anew is answered from its former version. */
export function isAskable(document: Document): boolean {
  return document.chunk_count > 0 && document.status !== "DELETING" && document.status !== "DELETED";
}

/** Limit the next question to these documents, and go and ask it. */
export function askAbout(documents: readonly Document[]): void {
  scope.value = documents.map(({ document_id, title }) => ({ document_id, title }));
  toast(t("scoped", documents.length));
  navigate({ name: "chat" });
}

export function openFile(document: Document, page: number | null): void {
  const { document_id, title } = document;
  openSource({ document_id, title, citations: [], index: 0, ...(page ? { page } : {}) });
}
