import { SendError, type UploadForm } from "./uploads.ts";

/** Post a file with its signed form. `fetch` tells nothing of how much is sent, so this is an `XMLHttpRequest`. */
export function send(form: UploadForm, file: Blob, told: (sent: number) => void, stop: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const body = new FormData();
    for (const [name, value] of Object.entries(form.fields)) body.append(name, value);
    body.append("file", file);
    const request = new XMLHttpRequest();
    const abort = (): void => request.abort();
    stop.addEventListener("abort", abort);
    request.upload.onprogress = (event) => told(Math.min(event.loaded, file.size));
    request.onload = () => {
      if (request.status >= 200 && request.status < 300) resolve();
      else reject(new SendError({ why: "storage", code: codeOf(request.responseText) || String(request.status) }));
    };
    request.onerror = () => reject(new SendError({ why: "network" }));
    request.onabort = () => reject(new DOMException("cancelled", "AbortError"));
    request.onloadend = () => stop.removeEventListener("abort", abort);
    request.open("POST", form.url);
    request.send(body);
  });
}

/** Whether a file behind a link has the bytes of another one; reading ends where they differ. */
export async function holds(url: string, file: Blob, stop: AbortSignal): Promise<boolean> {
  const answer = await fetch(url, { signal: stop });
  const reader = answer.ok ? answer.body?.getReader() : undefined;
  if (!reader) return false;
  let at = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return at === file.size;
    const own = new Uint8Array(await file.slice(at, at + value.length).arrayBuffer());
    if (own.length !== value.length || own.some((byte, index) => byte !== value[index])) {
      await reader.cancel();
      return false;
    }
    at += value.length;
  }
}

/** The code of S3's error document, "" if it is none. */
export function codeOf(xml: string): string {
  return /<Code>([A-Za-z]{1,64})<\/Code>/.exec(xml)?.[1] ?? "";
}
