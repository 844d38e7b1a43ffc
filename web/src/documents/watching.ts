/** Statuses that become others by themselves. What is being deleted is not shown, so it is not followed. */
const MOVING = new Set(["PENDING", "PROCESSING"]);
/** The error of a document whose pictures are being read. */
export const OCR_PENDING = "OCR_PENDING";
/** Milliseconds between two looks: quick at first, then slower and slower. */
const FIRST_MS = 1_000;
const LAST_MS = 30_000;
const GROWTH = 1.35;
/** Looks after which one is due while a document is being read page by page: some seconds later. */
const WHILE_READ = 5;
/** How long a replaced document may show its former status before it is believed. */
const BELIEVED_AFTER_MS = 60_000;

/** Whether a document's status will become another one: it is being read, or OCR reads its pictures. */
export const isMoving = (document: Pick<Watched, "status" | "error">): boolean =>
  MOVING.has(document.status) || document.error?.code === OCR_PENDING;

/** Milliseconds until the next look, after so many looks that found nothing new. */
export function delayAfter(idleLooks: number): number {
  return Math.min(LAST_MS, Math.round(FIRST_MS * GROWTH ** idleLooks));
}

export interface Watched {
  document_id: string;
  status: string;
  updated_at: string;
  error?: { code: string } | null | undefined;
  progress?: { page: number; page_count: number } | null | undefined;
}

export interface WatchPorts<T extends Watched> {
  /** The documents as they are now; null for one that is gone. */
  look(ids: readonly string[]): Promise<Map<string, T | null>>;
  changed(document_id: string, now: T | null): void;
  wait(ms: number): { done: Promise<void>; end(): void };
  now(): number;
}

/** Looks at documents until each has come to rest. */
export class Watch<T extends Watched> {
  private readonly ports: WatchPorts<T>;
  private readonly known = new Map<string, { last: T | null; restFrom: number }>();
  private idle = 0;
  private running = false;
  private stopped = false;
  private pause: { end(): void } | null = null;

  constructor(ports: WatchPorts<T>) {
    this.ports = ports;
  }

  /** Watch a document. A replaced one looks at rest until its new file is found, so that is not believed at once. */
  follow(document_id: string, last: T | null, replaced = false): void {
    if (!this.known.has(document_id)) {
      this.known.set(document_id, { last, restFrom: this.ports.now() + (replaced ? BELIEVED_AFTER_MS : 0) });
      this.idle = 0;
      this.pause?.end();
    }
    if (!this.running) void this.run();
  }

  forget(document_id: string): void {
    this.known.delete(document_id);
  }

  /** Look now: the page is seen again, or back online. */
  hurry(): void {
    this.idle = 0;
    this.pause?.end();
  }

  stop(): void {
    this.stopped = true;
    this.pause?.end();
  }

  private async run(): Promise<void> {
    this.running = true;
    while (this.known.size > 0 && !this.stopped) {
      const pause = this.ports.wait(delayAfter(this.idle));
      this.pause = pause;
      await pause.done;
      this.pause = null;
      if (this.stopped || this.known.size === 0) break;
      const before = this.idle;
      this.idle = before + 1;
      try {
        this.found(await this.ports.look([...this.known.keys()]));
      } catch {
        // Offline, or the service is busy: the next look is later.
      }
    }
    this.running = false;
  }

  private found(documents: Map<string, T | null>): void {
    for (const [id, now] of documents) {
      const entry = this.known.get(id);
      if (!entry) continue;
      const isNew = now?.status !== entry.last?.status || now?.updated_at !== entry.last?.updated_at;
      const wasKnown = entry.last !== null;
      if (!isNew && now?.progress?.page !== entry.last?.progress?.page) {
        this.idle = Math.min(this.idle, WHILE_READ);
        this.ports.changed(id, now);
      }
      if (isNew) {
        this.idle = 0;
        this.ports.changed(id, now);
      }
      entry.last = now;
      const isBelieved = (isNew && wasKnown) || this.ports.now() >= entry.restFrom;
      if (now === null || (!isMoving(now) && isBelieved)) this.known.delete(id);
    }
  }
}
