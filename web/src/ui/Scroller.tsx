import type { ComponentChildren } from "preact";

/** A part that scrolls by itself: the keyboard can get to it, and its name says what it holds. */
export function Scroller(props: { label: string; class?: string | undefined; children: ComponentChildren }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: whoever has no mouse scrolls it with the arrow keys
    <section class={props.class} aria-label={props.label} tabIndex={0}>
      {props.children}
    </section>
  );
}
