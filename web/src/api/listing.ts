import { type Signal, signal } from "@preact/signals";
import { isAbort } from "./problem.ts";

export interface Page<T> {
  items: readonly T[];
  /** Where the next page begins; empty after the last. */
  next: string;
}

/** Pages that are read in a row while none of them holds anything: with a filter, a page may be empty. */
const EMPTY_PAGES = 20;

/** A listing that is read page by page. What was read stays on the page while it is read anew. */
export class Listing<T> {
  /** Null until the first page is there. */
  readonly items: Signal<readonly T[] | null> = signal(null);
  readonly next = signal("");
  readonly loading = signal(false);
  readonly error = signal<unknown>(null);
  private readonly read: (cursor: string, stop: AbortSignal) => Promise<Page<T>>;
  private reading: AbortController | null = null;

  constructor(read: (cursor: string, stop: AbortSignal) => Promise<Page<T>>) {
    this.read = read;
  }

  /** Read the first page anew; whatever is being read is given up. */
  reload(): Promise<void> {
    return this.turn("", () => []);
  }

  /** Read the next page, if there is one and none is being read. */
  async more(): Promise<void> {
    if (this.loading.value || !this.next.value) return;
    await this.turn(this.next.value, () => this.items.value ?? []);
  }

  /** Change what was read, as after a save. */
  change(how: (items: readonly T[]) => readonly T[]): void {
    if (this.items.value) this.items.value = how(this.items.value);
  }

  stop(): void {
    this.reading?.abort();
    this.reading = null;
    this.loading.value = false;
  }

  private async turn(cursor: string, before: () => readonly T[]): Promise<void> {
    this.stop();
    const reading = new AbortController();
    this.reading = reading;
    this.loading.value = true;
    this.error.value = null;
    try {
      const page = await this.readOn(cursor, reading.signal);
      if (this.reading !== reading) return;
      this.items.value = [...before(), ...page.items];
      this.next.value = page.next;
    } catch (error) {
      if (this.reading === reading && !isAbort(error)) this.error.value = error;
    } finally {
      if (this.reading === reading) this.loading.value = false;
    }
  }

  private async readOn(cursor: string, stop: AbortSignal): Promise<Page<T>> {
    let page = await this.read(cursor, stop);
    for (let pages = 1; page.items.length === 0 && page.next && pages < EMPTY_PAGES; pages += 1) {
      page = await this.read(page.next, stop);
    }
    return page;
  }
}
