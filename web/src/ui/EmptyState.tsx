import type { ComponentChildren } from "preact";
import css from "./EmptyState.module.css";
import { Icon, type IconName } from "./Icon.tsx";

/** What a view says while it has nothing to show: what belongs here, and what to do to get it. */
export function EmptyState(props: {
  icon: IconName;
  title: string;
  children?: ComponentChildren;
  action?: ComponentChildren;
}) {
  return (
    <section class={css.empty}>
      <span class={css.icon}>
        <Icon name={props.icon} size={26} />
      </span>
      <h2 class={css.title}>{props.title}</h2>
      {props.children && <div class={css.text}>{props.children}</div>}
      {props.action && <div class={css.action}>{props.action}</div>}
    </section>
  );
}
