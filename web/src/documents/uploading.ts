import { effect, untracked } from "@preact/signals";
import { asProblem } from "../api/problem.ts";
import { adviceOn } from "../app/advice.ts";
import { t } from "../i18n/documents.ts";
import { toast } from "../ui/toast.ts";
import { isAskable } from "./asking.ts";
import { announceUploads, deleteDocument, linkToFile, readDocument } from "./calls.ts";
import { holds, send } from "./sending.ts";
import { type Upload, Uploads } from "./uploads.ts";

/** The page's uploads: they go on while one looks at something else. */
export const uploads = new Uploads({
  announce: (names) =>
    announceUploads(names).catch((error: unknown) => {
      throw new Error(adviceOn(asProblem(error)));
    }),
  send,
  look: async (document_id) => {
    const found = await readDocument(document_id).catch((error: unknown) => {
      throw new Error(adviceOn(asProblem(error)));
    });
    return found && { ...found, readable: isAskable(found) };
  },
  same: async (document_id, file, stop) => holds(await linkToFile(document_id), file, stop),
  withdraw: deleteDocument,
  now: () => performance.now(),
});

const warn = (event: BeforeUnloadEvent) => event.preventDefault();

let asked = 0;
effect(() => {
  const asking = uploads.all.value.filter((each) => each.state.value.kind === "asking").length;
  if (asking > 0 && asked === 0) toast(t("asks", asking)); // nothing goes on before it is answered
  asked = asking;
});

let wasBusy = false;
effect(() => {
  const busy = uploads.busy.value;
  if (busy) addEventListener("beforeunload", warn);
  else removeEventListener("beforeunload", warn);
  if (wasBusy && !busy) toast(untracked(() => outcome(uploads.all.value))); // wherever one is
  wasBusy = busy;
});

/** How uploads ended, in words. What is found out of a file later only adds to them. */
export function outcome(all: readonly Upload[]): string {
  const states = all.map((each) => each.state.value);
  const stored = states.filter(({ kind }) => kind === "stored").length;
  const unreadable = states.filter((state) => state.kind === "stored" && state.unreadable).length;
  const lost = states.filter(({ kind }) => kind === "failed" || kind === "refused").length;
  const unchanged = states.filter(({ kind }) => kind === "unchanged").length;
  const failed = stored > 0 ? t("uploaded_failed", stored, lost) : t("nothing_uploaded", lost);
  const said = lost > 0 ? failed : stored > 0 || unchanged === 0 ? t("uploaded", stored) : "";
  const parts = [said];
  if (unchanged > 0) parts.push(t("uploaded_unchanged", unchanged));
  if (unreadable > 0) parts.push(t("uploaded_unreadable", unreadable, stored));
  return parts.filter((part) => part).join(". ");
}
