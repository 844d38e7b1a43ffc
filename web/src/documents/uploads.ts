import { computed, type ReadonlySignal, type Signal, signal } from "@preact/signals";

/** Uploads that run at the same time. */
export const AT_ONCE = 4;
/** Names that are announced together: few, so that no form expires while its file waits. */
export const ANNOUNCED_TOGETHER = 8;
/** Share of a form's life after which a new one is asked for. */
const FRESH_SHARE = 0.5;
/** Times that S3's refusal of a form is answered with a new form. */
const FORMS_A_FILE = 2;
/** Statuses of names under which there is no file that an upload would replace. */
const WITHOUT_FILE = new Set(["PENDING", "DELETING", "DELETED"]);
/** Statuses of documents that nothing is answered from. */
const UNREADABLE = ["ENCRYPTED", "FAILED", "NEEDS_OCR"] as const;
type Unreadable = (typeof UNREADABLE)[number];
/** Other names that are tried for a file that is to stand beside the one of its name. */
const LAST_BESIDE = 99;
/** Readers of PDFs accept bytes before the header, this many at most. */
const HEADER_BYTES = 1024;

export interface UploadForm {
  url: string;
  fields: Record<string, string>;
  expires_in_s: number;
  max_bytes: number;
}

export interface Announced {
  filename: string;
  upload: { document_id: string; status: string; upload: UploadForm } | null;
  error: { code: string; detail: string } | null;
}

/** Why a file is not sent at all: sending it again would change nothing. */
export type Refusal =
  | { why: "not_pdf" }
  | { why: "no_pdf_inside" }
  | { why: "empty" }
  | { why: "too_large"; max_bytes: number }
  | { why: "twice" }
  | { why: "said"; detail: string };

/** Why sending failed: it may be tried again. */
export type Failure = { why: "network" } | { why: "storage"; code: string } | { why: "said"; detail: string };

/** The document that a file would replace, for who has to decide. */
export interface Former {
  size_bytes: number;
  page_count: number;
  updated_at: string;
  /** Whether something of it can be asked about: the same file need not be sent again then. */
  readable: boolean;
}

export type UploadState =
  | { kind: "waiting" }
  /** Another file has this name: nothing is sent until a person has chosen. Null: nobody may know more of it. */
  | { kind: "asking"; former: Former | null }
  /** These bytes are there under this name already. */
  | { kind: "unchanged"; document_id: string }
  | { kind: "sending"; sent: number }
  | { kind: "stored"; document_id: string; replaced: boolean; unreadable?: Unreadable; why?: string }
  | { kind: "refused"; refusal: Refusal }
  | { kind: "failed"; failure: Failure }
  | { kind: "cancelled" };

export interface Upload {
  readonly id: number;
  readonly name: string;
  readonly file: Blob;
  readonly state: Signal<UploadState>;
}

/** What `send` throws, so that a form that S3 does not take any more can be told from a lost connection. */
export class SendError extends Error {
  readonly failure: Failure;
  constructor(failure: Failure) {
    super(failure.why);
    this.failure = failure;
  }
}

/** What becomes of a file under whose name there is another one. */
export type Choice = "replace" | "beside";

export interface UploadPorts {
  /** Ask for forms, one for each name. Throws an error whose message says why not. */
  announce(names: string[]): Promise<Announced[]>;
  /** Send a file. Throws `SendError`, or anything if `stop` is aborted. */
  send(form: UploadForm, file: Blob, told: (sent: number) => void, stop: AbortSignal): Promise<void>;
  /** Look at the document of a name; null if it cannot be seen. */
  look(document_id: string): Promise<Former | null>;
  /** Whether the document's file has the same bytes. */
  same(document_id: string, file: Blob, stop: AbortSignal): Promise<boolean>;
  /** Take back an announcement whose file never comes. */
  withdraw(document_id: string): Promise<void>;
  now(): number;
}

interface Task {
  upload: Upload;
  stop: AbortController;
  forms: number;
  document_id: string;
  /** The status under this name before: PENDING means that there is no file yet. */
  status: string;
  form: UploadForm | null;
  formFrom: number;
  /** Whether the file was compared with the document of its name. */
  compared: "no" | "now" | "yes";
}

const isOver = ({ kind }: UploadState): boolean => kind !== "waiting" && kind !== "sending" && kind !== "asking";

/** "manual (2).pdf" */
const besideOf = (name: string, number: number): string => name.replace(/(\.pdf)$/i, ` (${number})$1`);

/** Look at a file before anything is asked of the server; null if it may be sent. */
export async function refusalOf(name: string, file: Blob, maxBytes: number | null): Promise<Refusal | null> {
  // A new version goes by the name of the former one, whatever its own is.
  if (![name, file instanceof File ? file.name : name].every((each) => /[^/]\.pdf$/i.test(each)))
    return { why: "not_pdf" };
  if (file.size === 0) return { why: "empty" };
  if (maxBytes !== null && file.size > maxBytes) return { why: "too_large", max_bytes: maxBytes };
  const head = new TextDecoder("latin1").decode(await file.slice(0, HEADER_BYTES).arrayBuffer());
  return head.includes("%PDF-") ? null : { why: "no_pdf_inside" };
}

/** Uploads in the order they were added: at most `AT_ONCE` are sent at the same time. */
export class Uploads {
  readonly all: Signal<readonly Upload[]> = signal([]);
  readonly busy: ReadonlySignal<boolean>;
  private readonly ports: UploadPorts;
  private readonly tasks = new Map<number, Task>();
  /** Those that may replace a document, by their ids. */
  private readonly replacing = new Set<number>();
  /** Those that stand beside the document of their name: that name, and the number behind it. */
  private readonly beside = new Map<number, { of: string; number: number }>();
  /** What is to become of those that would replace another file, once somebody has decided for all. */
  private readonly chosen = new Map<number, Choice>();
  /** Documents whose files this page has stored: their status says so only later. */
  private readonly stored = new Set<string>();
  private lastId = 0;
  private maxBytes: number | null = null;
  private announcing: Promise<void> | null = null;

  constructor(ports: UploadPorts) {
    this.ports = ports;
    this.busy = computed(() => this.all.value.some((each) => !isOver(each.state.value)));
  }

  /**
   * Queue files by their names, paths below the tenant's uploads. Resolves when all are looked at. One that would replace
   * another file waits for `choose`, unless it is known that it `replaces` it.
   */
  async add(files: readonly { name: string; file: Blob }[], replaces = false): Promise<void> {
    const taken = this.taken();
    const added = files.map(({ name, file }) => {
      this.lastId += 1;
      const state = signal<UploadState>({ kind: "waiting" });
      if (taken.has(name)) state.value = { kind: "refused", refusal: { why: "twice" } };
      taken.add(name);
      if (replaces) this.replacing.add(this.lastId);
      return { id: this.lastId, name, file, state };
    });
    this.all.value = [...this.all.value, ...added];
    for (const upload of added) await this.queue(upload);
  }

  /** Replace the document of an upload's name, or store the file beside it under another one. */
  choose(upload: Upload, choice: Choice): void {
    const task = this.tasks.get(upload.id);
    if (upload.state.value.kind !== "asking" || !task) return;
    if (choice === "replace") {
      this.replacing.add(upload.id);
      upload.state.value = { kind: "waiting" };
    } else {
      upload.state.value = { kind: "waiting" };
      this.putBeside(task);
    }
    this.pump();
  }

  /** Decide for all that ask now, and those that would. */
  chooseAll(choice: Choice): void {
    for (const { upload } of [...this.tasks.values()]) {
      if (upload.state.value.kind === "asking") this.choose(upload, choice);
      else this.chosen.set(upload.id, choice);
    }
  }

  cancel(upload: Upload): void {
    if (isOver(upload.state.value)) return;
    if (upload.state.value.kind === "asking") this.replacing.delete(upload.id);
    this.chosen.delete(upload.id);
    const task = this.tasks.get(upload.id);
    const isSent = upload.state.value.kind === "sending";
    upload.state.value = { kind: "cancelled" };
    task?.stop.abort();
    if (task?.form && !isSent) this.end(task, { kind: "cancelled" }); // announced, and waiting for its turn
  }

  cancelAll(): void {
    for (const upload of this.all.value) this.cancel(upload);
  }

  async retry(upload: Upload): Promise<void> {
    const kind = upload.state.value.kind;
    if (kind !== "failed" && kind !== "cancelled") return;
    upload.state.value = { kind: "waiting" };
    await this.queue(upload);
  }

  /** Note what has become of an uploaded file as a document, and the reason if it cannot be read. */
  found(document_id: string, status: string, why = ""): void {
    for (const { state } of this.all.peek()) {
      const { value } = state;
      if (value.kind !== "stored" || value.document_id !== document_id) continue;
      const { unreadable: _, why: __, ...stored } = value;
      const unreadable = UNREADABLE.find((each) => each === status);
      state.value = { ...stored, ...(unreadable && { unreadable, why }) };
    }
  }

  /** Forget those that are over. */
  clear(): void {
    this.all.value = this.all.value.filter((each) => !isOver(each.state.value));
  }

  private async queue(upload: Upload): Promise<void> {
    if (upload.state.value.kind !== "waiting") return;
    const refusal = await refusalOf(upload.name, upload.file, this.maxBytes).catch((): Refusal => ({ why: "empty" }));
    if (upload.state.value.kind !== "waiting") return;
    if (refusal) {
      upload.state.value = { kind: "refused", refusal };
      return;
    }
    this.tasks.set(upload.id, {
      upload,
      stop: new AbortController(),
      forms: 0,
      document_id: "",
      status: "",
      form: null,
      formFrom: 0,
      compared: "no",
    });
    this.pump();
  }

  private pump(): void {
    const kinds = this.all.value.map((each) => each.state.value.kind);
    const comparing = [...this.tasks.values()].filter((task) => task.compared === "now").length;
    let free = AT_ONCE - comparing - kinds.filter((kind) => kind === "sending").length;
    for (const task of this.waiting()) {
      if (free <= 0) return;
      if (!task.form || this.ports.now() - task.formFrom > task.form.expires_in_s * 1000 * FRESH_SHARE) {
        void this.announce();
        return;
      }
      free -= 1;
      void this.send(task, task.form);
    }
  }

  private waiting(): Task[] {
    const all = [...this.tasks.values()];
    return all.filter((task) => task.upload.state.value.kind === "waiting" && task.compared !== "now");
  }

  private taken(): Set<string> {
    return new Set(this.all.value.filter((each) => !isOver(each.state.value)).map((each) => each.name));
  }

  /** Give a file the next name that no other upload has; whether a document has it is seen when it is announced. */
  private putBeside(task: Task): void {
    const { id, name } = task.upload;
    const { of, number } = this.beside.get(id) ?? { of: name, number: 1 };
    const taken = this.taken();
    let next = number + 1;
    while (taken.has(besideOf(of, next))) next += 1;
    this.beside.set(id, { of, number: next });
    task.upload = { ...task.upload, name: besideOf(of, next) };
    Object.assign(task, { form: null, document_id: "", status: "", compared: "no" });
    this.all.value = this.all.value.map((each) => (each.id === id ? task.upload : each));
  }

  /** See whether a file is there already, and ask before it replaces another one. */
  private async compare(task: Task): Promise<void> {
    const { upload, document_id, stop } = task;
    task.compared = "now";
    try {
      const former = await this.ports.look(document_id);
      const isSame =
        former?.readable &&
        former.size_bytes === upload.file.size &&
        (await this.ports.same(document_id, upload.file, stop.signal).catch(() => false));
      if (stop.signal.aborted) return; // cancelled meanwhile
      if (isSame) this.end(task, { kind: "unchanged", document_id });
      else if (!this.replacing.has(upload.id)) this.ask(task, former);
    } catch (error) {
      if (stop.signal.aborted) return;
      const detail = error instanceof Error && !(error instanceof TypeError) ? error.message : "";
      this.end(task, { kind: "failed", failure: detail ? { why: "said", detail } : { why: "network" } });
    } finally {
      if (task.compared === "now") task.compared = "yes";
      this.pump();
    }
  }

  /** Ask what becomes of a file, unless somebody has decided for all. */
  private ask(task: Task, former: Former | null): void {
    const { upload } = task;
    const choice = this.chosen.get(upload.id);
    if (choice === "replace") this.replacing.add(upload.id);
    else if (choice === "beside") this.putBeside(task);
    else upload.state.value = { kind: "asking", former };
  }

  private announce(): Promise<void> {
    this.announcing ??= this.announceNext().finally(() => {
      this.announcing = null;
      this.pump();
    });
    return this.announcing;
  }

  private async announceNext(): Promise<void> {
    const tasks = this.waiting().slice(0, ANNOUNCED_TOGETHER);
    const from = this.ports.now();
    let answers: Announced[];
    try {
      answers = await this.ports.announce(tasks.map((task) => task.upload.name));
    } catch (error) {
      const detail = error instanceof Error ? error.message : "";
      for (const task of tasks)
        this.end(task, { kind: "failed", failure: detail ? { why: "said", detail } : { why: "network" } });
      return;
    }
    for (const [index, task] of tasks.entries()) this.announced(task, answers[index], from);
  }

  private announced(task: Task, answer: Announced | undefined, from: number): void {
    if (!answer?.upload) {
      const detail = answer?.error?.detail ?? "";
      const lasting = answer?.error?.code === "invalid_request";
      const said = { why: "said", detail } as const;
      this.end(task, lasting ? { kind: "refused", refusal: said } : { kind: "failed", failure: said });
      return;
    }
    const { document_id, status, upload: form } = answer.upload;
    this.maxBytes = form.max_bytes;
    Object.assign(task, { document_id, form, formFrom: from, status });
    if (task.upload.file.size > form.max_bytes) {
      this.end(task, { kind: "refused", refusal: { why: "too_large", max_bytes: form.max_bytes } });
    } else if (task.upload.state.value.kind === "cancelled") {
      this.end(task, { kind: "cancelled" });
    } else if (this.hasFile(task) && task.compared === "no") {
      const { number } = this.beside.get(task.upload.id) ?? { number: 0 };
      if (number > 0 && number < LAST_BESIDE) this.putBeside(task);
      else void this.compare(task);
    }
  }

  private async send(task: Task, form: UploadForm): Promise<void> {
    const { upload, stop } = task;
    upload.state.value = { kind: "sending", sent: 0 };
    task.forms += 1;
    try {
      await this.ports.send(form, upload.file, (sent) => this.told(upload, sent), stop.signal);
      const { document_id } = task;
      this.end(task, { kind: "stored", document_id, replaced: this.hasFile(task) });
      this.stored.add(document_id);
    } catch (error) {
      const failure: Failure = error instanceof SendError ? error.failure : { why: "network" };
      if (stop.signal.aborted) this.end(task, { kind: "cancelled" });
      else if (failure.why === "storage" && failure.code === "AccessDenied" && task.forms < FORMS_A_FILE) {
        task.form = null; // the form has expired: a new one, once
        upload.state.value = { kind: "waiting" };
      } else this.end(task, { kind: "failed", failure });
    }
    this.pump();
  }

  /** Whether there is a file under the name: the status of one that this page has just stored may not say so yet. */
  private hasFile({ status, document_id }: Task): boolean {
    return !WITHOUT_FILE.has(status) || this.stored.has(document_id);
  }

  private told(upload: Upload, sent: number): void {
    if (upload.state.value.kind === "sending") upload.state.value = { kind: "sending", sent };
  }

  private end(task: Task, reached: UploadState): void {
    this.tasks.delete(task.upload.id);
    // Who has cancelled is told nothing else, whatever has failed meanwhile.
    const isGivenUp = task.upload.state.value.kind === "cancelled" && reached.kind !== "stored";
    const state: UploadState = isGivenUp ? { kind: "cancelled" } : reached;
    task.upload.state.value = state;
    const comes = state.kind === "stored" || state.kind === "failed";
    if (task.status === "PENDING" && task.document_id && !comes && !this.hasFile(task))
      this.ports.withdraw(task.document_id).catch(() => undefined);
  }
}
