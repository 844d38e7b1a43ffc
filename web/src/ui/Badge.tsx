import type { ComponentChildren } from "preact";
import css from "./Badge.module.css";
import { classes } from "./classes.ts";
import { Icon, type IconName } from "./Icon.tsx";

/** A state in a word; the colour only repeats it. */
export function Badge(props: {
  tone?: "plain" | "accent" | "good" | "warn" | "bad";
  icon?: IconName;
  children: ComponentChildren;
}) {
  return (
    <span class={classes(css.badge, css[props.tone ?? "plain"])}>
      {props.icon && <Icon name={props.icon} size={13} />}
      {props.children}
    </span>
  );
}
