import assert from "node:assert/strict";
import { test } from "node:test";
import {
  ANNOUNCED_TOGETHER,
  type Announced,
  AT_ONCE,
  type Former,
  SendError,
  type Upload,
  type UploadPorts,
  Uploads,
} from "./uploads.ts";

const pdf = (bytes = 20): Blob => new Blob(["%PDF-1.7\n".padEnd(bytes, "x")]);

/** A server whose uploads end when the test says so. */
class Server implements UploadPorts {
  readonly announcedNames: string[] = [];
  readonly withdrawn: string[] = [];
  readonly sending = new Map<string, { resolve: () => void; reject: (error: unknown) => void }>();
  statusBefore = "PENDING";
  /** Names under which there is a file, and what is known of it. */
  readonly files = new Map<string, Former | null>();
  bytesAreSame = false;
  maxBytes = 1_000;
  clock = 0;
  most = 0;

  async announce(names: string[]): Promise<Announced[]> {
    this.announcedNames.push(...names);
    return names.map((filename) => ({
      filename,
      upload: {
        document_id: `id of ${filename}`,
        status: this.files.has(filename) ? "READY" : this.statusBefore,
        upload: { url: filename, fields: {}, expires_in_s: 900, max_bytes: this.maxBytes },
      },
      error: null,
    }));
  }

  send(form: { url: string }, _file: Blob, told: (sent: number) => void, stop: AbortSignal): Promise<void> {
    told(1);
    const sent = new Promise<void>((resolve, reject) => {
      this.sending.set(form.url, { resolve, reject });
      stop.addEventListener("abort", () => reject(new DOMException("cancelled", "AbortError")));
    });
    this.most = Math.max(this.most, this.sending.size);
    return sent.finally(() => this.sending.delete(form.url));
  }

  async look(document_id: string): Promise<Former | null> {
    return this.files.get(document_id.replace("id of ", "")) ?? null;
  }

  async same(): Promise<boolean> {
    return this.bytesAreSame;
  }

  async withdraw(document_id: string): Promise<void> {
    this.withdrawn.push(document_id);
  }

  now(): number {
    return this.clock;
  }
}

/** Let everything happen that needs no answer of the test's. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 30; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

function only(uploads: Uploads): Upload {
  const [upload] = uploads.all.value;
  assert.ok(upload);
  return upload;
}

test("at most four files are sent at once, and the next begins when one ends", async () => {
  const server = new Server();
  const uploads = new Uploads(server);
  await uploads.add(Array.from({ length: 10 }, (_, n) => ({ name: `${n}.pdf`, file: pdf() })));
  await settled();
  assert.equal(server.sending.size, AT_ONCE);
  while (server.sending.size > 0) {
    for (const { resolve } of [...server.sending.values()]) resolve();
    await settled();
  }
  assert.equal(server.most, AT_ONCE);
  assert.deepEqual(new Set(uploads.all.value.map((each) => each.state.value.kind)), new Set(["stored"]));
  assert.equal(uploads.busy.value, false);
});

test("what is no PDF, or empty, or there twice is refused before the server is asked", async () => {
  const server = new Server();
  const uploads = new Uploads(server);
  await uploads.add([
    { name: "notes.docx", file: pdf() },
    { name: "renamed.pdf", file: new Blob(["PK a Word file"]) },
    { name: "nothing.pdf", file: new Blob([]) },
    { name: "twice.pdf", file: pdf() },
    { name: "twice.pdf", file: pdf() },
    { name: "former.pdf", file: new File(["PK"], "its new version.docx") },
  ]);
  await settled();
  const why = uploads.all.value.map(({ state: { value } }) =>
    value.kind === "refused" ? value.refusal.why : value.kind,
  );
  assert.deepEqual(why, ["not_pdf", "no_pdf_inside", "empty", "sending", "twice", "not_pdf"]);
  assert.deepEqual(server.announcedNames, ["twice.pdf"]);
});

test("a file that is too large is not sent, and takes its announcement back", async () => {
  const server = new Server();
  const uploads = new Uploads(server);
  await uploads.add([{ name: "big.pdf", file: pdf(2_000) }]);
  await settled();
  assert.deepEqual(only(uploads).state.value, { kind: "refused", refusal: { why: "too_large", max_bytes: 1_000 } });
  assert.deepEqual(server.withdrawn, ["id of big.pdf"]);
  await uploads.add([{ name: "second.pdf", file: pdf(2_000) }]);
  await settled();
  assert.deepEqual(server.announcedNames, ["big.pdf"], "the limit is known by then");
});

test("cancelling takes the announcement back, but never a document that was there before", async () => {
  for (const [status, withdrawn] of [
    ["PENDING", ["id of a.pdf"]],
    ["READY", []],
  ] as const) {
    const server = new Server();
    server.statusBefore = status;
    const uploads = new Uploads(server);
    await uploads.add([{ name: "a.pdf", file: pdf() }]);
    await settled();
    uploads.cancel(only(uploads));
    await settled();
    assert.equal(only(uploads).state.value.kind, "cancelled");
    assert.deepEqual(server.withdrawn, withdrawn);
  }
});

test("one that is cancelled while its announcement fails is cancelled", async () => {
  const server = new Server();
  let fail = (_: Error) => {};
  server.announce = () =>
    new Promise((_, reject) => {
      fail = reject;
    });
  const uploads = new Uploads(server);
  await uploads.add([{ name: "a.pdf", file: pdf() }]);
  await settled();
  uploads.cancel(only(uploads));
  fail(new Error("The service is down."));
  await settled();
  assert.deepEqual(only(uploads).state.value, { kind: "cancelled" });
});

test("one that failed can be tried again; the others go on", async () => {
  const server = new Server();
  const uploads = new Uploads(server);
  await uploads.add([
    { name: "a.pdf", file: pdf() },
    { name: "b.pdf", file: pdf() },
  ]);
  await settled();
  server.sending.get("a.pdf")?.reject(new SendError({ why: "network" }));
  server.sending.get("b.pdf")?.resolve();
  await settled();
  const failed = only(uploads);
  assert.deepEqual(failed.state.value, { kind: "failed", failure: { why: "network" } });
  await uploads.retry(failed);
  await settled();
  server.sending.get("a.pdf")?.resolve();
  await settled();
  assert.deepEqual(failed.state.value, { kind: "stored", document_id: "id of a.pdf", replaced: false });
});

test("a file whose document cannot be read is told from the others, until a new version can be", async () => {
  const server = new Server();
  const uploads = new Uploads(server);
  await uploads.add([
    { name: "a.pdf", file: pdf() },
    { name: "b.pdf", file: pdf() },
  ]);
  await settled();
  uploads.found("id of a.pdf", "FAILED"); // of a file before it; this one is not there yet
  server.sending.get("a.pdf")?.resolve();
  server.sending.get("b.pdf")?.resolve();
  await settled();
  const unreadable = () => uploads.all.value.map(({ state: { value } }) => value.kind === "stored" && value.unreadable);
  assert.deepEqual(unreadable(), [undefined, undefined]);
  const why = () => uploads.all.value.map(({ state: { value } }) => value.kind === "stored" && value.why);
  uploads.found("id of a.pdf", "ENCRYPTED", "It needs a password.");
  uploads.found("id of b.pdf", "PARTIAL", "A page is a picture.");
  assert.deepEqual(unreadable(), ["ENCRYPTED", undefined]);
  assert.deepEqual(why(), ["It needs a password.", undefined]);
  uploads.found("id of a.pdf", "READY");
  assert.deepEqual(unreadable(), [undefined, undefined]);
  assert.deepEqual(why(), [undefined, undefined]);
});

test("a form that has expired is asked for anew, once", async () => {
  const server = new Server();
  const uploads = new Uploads(server);
  await uploads.add([{ name: "a.pdf", file: pdf() }]);
  await settled();
  server.sending.get("a.pdf")?.reject(new SendError({ why: "storage", code: "AccessDenied" }));
  await settled();
  assert.deepEqual(server.announcedNames, ["a.pdf", "a.pdf"]);
  server.sending.get("a.pdf")?.reject(new SendError({ why: "storage", code: "AccessDenied" }));
  await settled();
  assert.deepEqual(only(uploads).state.value, { kind: "failed", failure: { why: "storage", code: "AccessDenied" } });
});

test("a form that has waited too long is not used", async () => {
  const server = new Server();
  const answer = server.announce.bind(server);
  let open = () => {};
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  server.announce = (names) => gate.then(() => answer(names)); // so that the last one gets its form with the others
  const uploads = new Uploads(server);
  await uploads.add(Array.from({ length: AT_ONCE + 1 }, (_, n) => ({ name: `${n}.pdf`, file: pdf() })));
  open();
  await settled();
  server.clock = 600_000;
  server.sending.get("0.pdf")?.resolve();
  await settled();
  assert.equal(server.announcedNames.filter((name) => name === `${AT_ONCE}.pdf`).length, 2);
});

test("when the server cannot be asked, each file says why and can be tried again", async () => {
  const server = new Server();
  server.announce = () => Promise.reject(new Error("The service is busy."));
  const uploads = new Uploads(server);
  await uploads.add([{ name: "a.pdf", file: pdf() }]);
  await settled();
  const failure = { why: "said", detail: "The service is busy." };
  assert.deepEqual(only(uploads).state.value, { kind: "failed", failure });
});

const FORMER: Former = { size_bytes: 20, page_count: 3, updated_at: "2026-11-30T10:00:00Z", readable: true };

/** Uploads with one that would replace a document. */
async function replacing(server: Server, replaces = false): Promise<Uploads> {
  server.files.set("a.pdf", FORMER);
  const uploads = new Uploads(server);
  await uploads.add([{ name: "a.pdf", file: pdf() }], replaces);
  await settled();
  return uploads;
}

test("nothing is sent over another file before a person has chosen", async () => {
  const server = new Server();
  const uploads = await replacing(server);
  assert.deepEqual(only(uploads).state.value, { kind: "asking", former: FORMER });
  assert.equal(uploads.busy.value, true);
  assert.equal(server.sending.size, 0);
  uploads.choose(only(uploads), "replace");
  await settled();
  server.sending.get("a.pdf")?.resolve();
  await settled();
  assert.deepEqual(only(uploads).state.value, { kind: "stored", document_id: "id of a.pdf", replaced: true });
});

test("both are kept under the next name that is free", async () => {
  const server = new Server();
  server.files.set("a (2).pdf", FORMER);
  const uploads = await replacing(server);
  uploads.choose(only(uploads), "beside");
  await settled();
  assert.deepEqual([...server.sending.keys()], ["a (3).pdf"]);
  server.sending.get("a (3).pdf")?.resolve();
  await settled();
  assert.equal(only(uploads).name, "a (3).pdf");
  assert.deepEqual(only(uploads).state.value, { kind: "stored", document_id: "id of a (3).pdf", replaced: false });
});

test("who cancels instead of choosing leaves the document as it was, and is asked again", async () => {
  const server = new Server();
  const uploads = await replacing(server);
  uploads.cancel(only(uploads));
  await settled();
  assert.equal(only(uploads).state.value.kind, "cancelled");
  assert.deepEqual([server.withdrawn, server.sending.size], [[], 0]);
  await uploads.retry(only(uploads));
  await settled();
  assert.equal(only(uploads).state.value.kind, "asking");
});

test("the same bytes are not sent again, unless nothing could be read of them", async () => {
  for (const [readable, kind] of [
    [true, "unchanged"],
    [false, "asking"],
  ] as const) {
    const server = new Server();
    server.bytesAreSame = true;
    server.look = async () => ({ ...FORMER, readable });
    const uploads = await replacing(server);
    assert.equal(only(uploads).state.value.kind, kind);
    assert.equal(server.sending.size, 0);
  }
});

test("a new version is sent without a question, and nothing over a document that cannot be looked at", async () => {
  const server = new Server();
  await replacing(server, true);
  assert.equal(server.sending.size, 1);
  const other = new Server();
  other.look = async () => null;
  const uploads = await replacing(other);
  assert.deepEqual(only(uploads).state.value, { kind: "asking", former: null });
  const broken = new Server();
  broken.look = () => Promise.reject(new TypeError("Failed to fetch"));
  assert.deepEqual(only(await replacing(broken)).state.value, { kind: "failed", failure: { why: "network" } });
});

test("a name that this page has just stored a file under is taken, whatever its status says yet", async () => {
  const server = new Server();
  const uploads = new Uploads(server);
  await uploads.add([{ name: "n.pdf", file: pdf() }]);
  await settled();
  server.sending.get("n.pdf")?.resolve();
  await settled();
  await uploads.add([{ name: "n.pdf", file: pdf() }]);
  await settled();
  const [, second] = uploads.all.value;
  assert.equal(second?.state.value.kind, "asking");
  uploads.cancel(second as Upload);
  await settled();
  assert.deepEqual(server.withdrawn, []);
});

test("who decides for all is not asked again, and few are compared at once", async () => {
  const server = new Server();
  const names = Array.from({ length: 20 }, (_, number) => `${number}.pdf`);
  for (const name of names) server.files.set(name, FORMER);
  let looking = 0;
  let most = 0;
  server.look = async () => {
    looking += 1;
    most = Math.max(most, looking);
    await settled();
    looking -= 1;
    return FORMER;
  };
  const uploads = new Uploads(server);
  await uploads.add(names.map((name) => ({ name, file: pdf() })));
  for (let turn = 0; turn < 9; turn += 1) await settled();
  uploads.chooseAll("replace");
  for (let turn = 0; turn < 60; turn += 1) {
    await settled();
    for (const each of server.sending.values()) each.resolve();
  }
  assert.ok(uploads.all.value.every((each) => each.state.value.kind === "stored"));
  assert.ok(most < ANNOUNCED_TOGETHER + AT_ONCE, `${most} at once`);
});
