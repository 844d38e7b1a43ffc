import type { ComponentChildren } from "preact";
import css from "./Panel.module.css";

/** A raised surface: a list of rows, or a block of a view. */
export function Panel(props: {
  as?: "div" | "ul" | "section";
  label?: string;
  padded?: boolean;
  children: ComponentChildren;
}) {
  const Element = props.as ?? "div";
  return (
    <Element class={props.padded ? `${css.panel} ${css.padded}` : css.panel} aria-label={props.label}>
      {props.children}
    </Element>
  );
}
