import { effect, untracked } from "@preact/signals";
import { asProblem } from "../api/problem.ts";
import { adviceOn } from "../app/advice.ts";
import { t } from "../i18n/documents.ts";
import { toast } from "../ui/toast.ts";
import { announceUploads, deleteDocument } from "./calls.ts";
import { send } from "./sending.ts";
import { type Upload, Uploads } from "./uploads.ts";

/** The page's uploads: they go on while one looks at something else. */
export const uploads = new Uploads({
  announce: (names) =>
    announceUploads(names).catch((error: unknown) => {
      throw new Error(adviceOn(asProblem(error)));
    }),
  send,
  withdraw: deleteDocument,
  now: () => performance.now(),
});

const warn = (event: BeforeUnloadEvent) => event.preventDefault();

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
  const failed = stored > 0 ? t("uploaded_failed", stored, lost) : t("nothing_uploaded", lost);
  const said = lost > 0 ? failed : t("uploaded", stored);
  return unreadable > 0 ? `${said}. ${t("uploaded_unreadable", unreadable, stored)}` : said;
}
