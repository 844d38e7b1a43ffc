import { computed, signal } from "@preact/signals";
import type { Citation } from "../api/types.ts";

/** A document to show beside what one reads, opened at one of the citations. */
export interface SourceTarget {
  document_id: string;
  /** The version that was quoted; the present one if it is not known. */
  version_id?: string;
  title: string;
  /** Those that one can leaf through, all of an answer; none when a document is just opened. */
  citations: Citation[];
  /** Which of `citations` is shown. */
  index: number;
  /** The page to open at, from 1, where there is no citation. */
  page?: number;
}

const target = signal<SourceTarget | null>(null);
const wide = signal(false);
/** What had the focus when the pane was opened, and how far down the window it stood before the last change. */
let opener: { element: Element | null; top: number } = { element: null, top: 0 };

/** What the pane shows; null while it is closed. */
export const source = computed(() => target.value);
/** Whether the pane has the whole width. */
export const expanded = computed(() => wide.value && target.value !== null);

/** Open the pane, or turn it to something else. The frame keeps what one reads where it is. */
export function openSource(next: SourceTarget): void {
  if (!target.value) opener = placed(document.activeElement);
  target.value = next;
}

/** Close the pane; the focus goes back to what opened it. */
export function closeSource(): void {
  opener = placed(opener.element);
  target.value = null;
  wide.value = false;
}

export function toggleExpanded(): void {
  wide.value = !wide.value;
}

/** What had the focus when the pane was opened, if it is still there, and where in the window it stood. */
export function openedFrom(): { element: HTMLElement; top: number } | null {
  const { element, top } = opener;
  return element instanceof HTMLElement && element.isConnected ? { element, top } : null;
}

function placed(element: Element | null): { element: Element | null; top: number } {
  return { element, top: element?.getBoundingClientRect().top ?? 0 };
}
