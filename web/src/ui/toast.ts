import { signal } from "@preact/signals";

export interface Toast {
  id: number;
  text: string;
  undo: (() => void) | null;
  /** Called when it goes without having been undone. */
  done: (() => void) | null;
}

/** The messages that are shown, the newest last. */
export const toasts = signal<readonly Toast[]>([]);

export const SHOWN_MS = 6_000;
const MOST = 3;
let last = 0;

/**
 * Show a message for some seconds. With `undo` it has a button that takes back what was done; what cannot be taken
 * back later is done in `done`, when the message goes.
 */
export function toast(text: string, { undo, done }: { undo?: () => void; done?: () => void } = {}): void {
  last += 1;
  toasts.value = [...toasts.value, { id: last, text, undo: undo ?? null, done: done ?? null }];
  const [oldest] = toasts.value;
  if (oldest && toasts.value.length > MOST) dismiss(oldest.id);
}

export function dismiss(id: number): void {
  take(id)?.done?.();
}

export function undo(id: number): void {
  take(id)?.undo?.();
}

/** Let all messages go; what waits for that is done. */
export function dismissAll(): void {
  for (const { id } of toasts.value) dismiss(id);
}

addEventListener("pagehide", dismissAll); // what waits is not lost with the page

function take(id: number): Toast | undefined {
  const taken = toasts.value.find((each) => each.id === id);
  toasts.value = toasts.value.filter((each) => each !== taken);
  return taken;
}
