import { signal } from "@preact/signals";
import { Listing } from "../api/listing.ts";
import { asProblem } from "../api/problem.ts";
import type { Document, DocumentStatus } from "../api/types.ts";
import { adviceOn } from "../app/advice.ts";
import { t } from "../i18n/documents.ts";
import { toast } from "../ui/toast.ts";
import { deleteDocument, listDocuments, readDocument, readDocuments } from "./calls.ts";
import { erase } from "./erasures.ts";
import { uploads } from "./uploading.ts";
import { isMoving, Watch } from "./watching.ts";

/** Documents whose deletion may still be undone: not shown, and not deleted yet. */
export const leaving = signal<ReadonlySet<string>>(new Set());

export function makeWatch(changed: (document_id: string, now: Document | null) => void): Watch<Document> {
  return new Watch({
    look: (ids) => (document.hidden ? Promise.reject(new Error("nobody looks")) : readDocuments(ids)),
    changed: (document_id, now) => {
      if (now) uploadFound(now);
      changed(document_id, now);
    },
    wait: (ms) => {
      let end = () => {};
      const done = new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms);
        end = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      return { done, end: () => end() };
    },
    now: () => performance.now(),
  });
}

function uploadFound(now: Document): void {
  if (!isMoving(now)) uploads.found(now.document_id, now.status, now.error?.message);
}

/** The documents as one looks through them, each followed until it has come to rest. */
export class Library {
  readonly q = signal("");
  readonly status = signal<DocumentStatus | null>(null);
  readonly selected = signal<ReadonlySet<string>>(new Set());
  readonly listing = new Listing<Document>(async (cursor, stop) => {
    const page = await listDocuments({ q: this.q.peek().trim(), status: this.status.peek() }, cursor, stop);
    for (const each of page.items) this.follow(each);
    return page;
  });
  private readonly watch = makeWatch((id, now) => this.put(id, now));

  /** Show a document that has just been uploaded, above the others. */
  async uploaded(document_id: string, replaced: boolean): Promise<void> {
    const found = await readDocument(document_id).catch(() => null);
    if (!found) return;
    if (!replaced) uploadFound(found); // a replaced one may still show its former status
    this.listing.change((all) =>
      all.some((each) => each.document_id === document_id)
        ? all.map((each) => (each.document_id === document_id ? found : each))
        : [found, ...all],
    );
    this.watch.follow(document_id, found, replaced);
  }

  put(document_id: string, now: Document | null): void {
    this.listing.change((all) =>
      now
        ? all.map((each) => (each.document_id === document_id ? now : each))
        : all.filter((each) => each.document_id !== document_id),
    );
    if (now) this.follow(now);
    else this.watch.forget(document_id);
  }

  hurry(): void {
    this.watch.hurry();
  }

  stop(): void {
    this.watch.stop();
    this.listing.stop();
  }

  private follow(each: Document): void {
    if (isMoving(each)) this.watch.follow(each.document_id, each);
  }
}

/**
 * Delete documents once that cannot be undone any more; `after` hears of each that is being deleted. With `verify` every
 * trace of them is erased, too (`erasures`).
 */
export function deleteWithUndo(
  documents: readonly Document[],
  verify: boolean,
  after: (document_id: string) => void,
): void {
  const ids = documents.map((each) => each.document_id);
  leaving.value = new Set([...leaving.value, ...ids]);
  const show = () => {
    leaving.value = new Set([...leaving.value].filter((id) => !ids.includes(id)));
  };
  const act = async () => {
    const ends = await Promise.allSettled(ids.map((id) => (verify ? erase(id) : deleteDocument(id))));
    ends.forEach((end, index) => {
      const id = ids[index];
      if (end.status === "fulfilled" && id) after(id);
    });
    show();
    const lost = ends.filter((end) => end.status === "rejected");
    if (lost[0]) toast(`${t("delete_failed", lost.length)} ${adviceOn(asProblem(lost[0].reason))}`);
  };
  toast(t("deleted", ids.length), { undo: show, done: () => void act() });
}
