import { effect } from "@preact/signals";
import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { closeSource, openedFrom, source } from "../viewer/pane.ts";
import { visits } from "./router.ts";

// A source belongs to what it was opened from.
effect(() => {
  if (visits.value) closeSource();
});

/** Keep what one reads at its place on the screen while the pane beside it opens and closes. */
export function useSteadyReading(main: RefObject<HTMLElement | null>): void {
  const open = source.value !== null;
  const was = useRef(false);
  useLayoutEffect(() => {
    const opener = openedFrom();
    const changed = was.current !== open;
    was.current = open;
    if (!main.current || !opener || !changed) return;
    // Whoever has scrolled away from it reads elsewhere, and stays there.
    if (opener.top >= 0 && opener.top < innerHeight) hold(main.current, opener);
    if (!open) opener.element.focus({ preventScroll: true });
  }, [open, main]);
}

/** Scroll so that an element stands as far down the window as it did; once more after the browser's own anchoring. */
function hold(scroller: HTMLElement, { element, top }: { element: HTMLElement; top: number }): void {
  const scroll = () => {
    scroller.scrollTop += element.getBoundingClientRect().top - top;
  };
  scroll();
  requestAnimationFrame(() => {
    scroll();
    requestAnimationFrame(scroll);
  });
}

/** Begin a new view at its top, with the focus in it, so that a screen reader goes on there. */
export function useArrival(main: RefObject<HTMLElement | null>): void {
  const visit = visits.value;
  useEffect(() => {
    const view = main.current;
    if (!view || !visit) return;
    view.scrollTop = 0;
    if (!view.contains(document.activeElement)) view.focus({ preventScroll: true });
  }, [visit, main]);
}
