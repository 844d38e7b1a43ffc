import { signal } from "@preact/signals";

/** Whether the API was reached last time; false also while the computer says that it is offline. */
export const reachable = signal(navigator.onLine);
/** Something has been waited for so long that it should be said. */
export const slow = signal(false);

const SLOW_MS = 6_000;
const AGAIN_MS = 4_000;
let probe: (() => Promise<unknown>) | undefined;
let timer: ReturnType<typeof setTimeout> | undefined;
const late = new Set<symbol>();

/** Tell how to find out whether the API can be reached. */
export function watchConnection(reach: () => Promise<unknown>): void {
  probe = reach;
  addEventListener("offline", lost);
  addEventListener("online", () => void tryAgain());
}

export function lost(): void {
  reachable.value = false;
  clearTimeout(timer);
  timer = setTimeout(() => void tryAgain(), AGAIN_MS);
}

export function found(): void {
  clearTimeout(timer);
  reachable.value = true;
}

export async function tryAgain(): Promise<void> {
  try {
    await probe?.();
    found();
  } catch {
    lost();
  }
}

/** Wait for what `work` gives; `slow` is true meanwhile once that takes long. */
export async function timed<T>(work: Promise<T>): Promise<T> {
  const mark = Symbol();
  const alarm = setTimeout(() => {
    late.add(mark);
    slow.value = true;
  }, SLOW_MS);
  try {
    return await work;
  } finally {
    clearTimeout(alarm);
    late.delete(mark);
    slow.value = late.size > 0;
  }
}
