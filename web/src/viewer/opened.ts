import { useEffect, useState } from "preact/hooks";
import { api, data } from "../api/client.ts";
import { asProblem } from "../api/problem.ts";
import type { components } from "../api/schema";
import { adviceOn } from "../app/advice.ts";
import { toast } from "../ui/toast.ts";
import { LinkedFile } from "./file.ts";
import type { PdfFile } from "./pdf.ts";

/** A link to a document's file, and which version it is. */
export type Content = components["schemas"]["ContentOut"];

/** A document as the pane shows it: a PDF page by page, anything else as text; `again` tries once more. */
export type Opened =
  | { state: "loading" }
  | { state: "pdf"; content: Content; file: PdfFile }
  | { state: "text"; content: Content }
  | { state: "failed"; error: unknown; again: () => void };

/** Opens a document, in the version that was quoted or else the present one; a PDF is closed when it is left. */
export function useOpened(document_id: string, version_id: string): Opened {
  const [opened, setOpened] = useState<Opened>({ state: "loading" });
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    const controller = new AbortController();
    let file: PdfFile | undefined;
    const fail = (error: unknown) => {
      if (!controller.signal.aborted) {
        setOpened({ state: "failed", error, again: () => setAttempt((before) => before + 1) });
      }
    };
    const open = async () => {
      const content = await linkTo(document_id, version_id);
      if (content.content_type !== "application/pdf") return { state: "text", content } as const;
      const { PdfFile } = await import("./pdf.ts");
      const renewed = () => linkTo(document_id, content.version_id);
      file = await PdfFile.open(new LinkedFile(content, renewed, controller.signal), fail);
      return { state: "pdf", content, file } as const;
    };
    setOpened({ state: "loading" });
    open().then((next) => (controller.signal.aborted ? file?.close() : setOpened(next)), fail);
    return () => {
      controller.abort();
      file?.close();
    };
  }, [document_id, version_id, attempt]);
  return opened;
}

function linkTo(document_id: string, version_id: string): Promise<Content> {
  const query = version_id ? { version_id } : {};
  return data(api().GET("/documents/{document_id}/content", { params: { path: { document_id }, query } }));
}

/** Opens the file in a tab of its own, at a page, by a link of its own: the pane's is good for five minutes only. */
export async function openInTab(document_id: string, version_id: string, page: number): Promise<void> {
  const tab = window.open("", "_blank"); // before any await: it needs the click
  try {
    const { url } = await linkTo(document_id, version_id);
    if (!tab) return location.assign(url);
    tab.opener = null;
    tab.location.href = `${url}#page=${page}`;
  } catch (error) {
    tab?.close();
    toast(adviceOn(asProblem(error)));
  }
}
