import type { ComponentChildren } from "preact";
import css from "./Page.module.css";

/** A view that is no chat: its heading, what it is for, its buttons, and the content in one column. */
export function Page(props: {
  /** The way back, above the heading. */
  before?: ComponentChildren;
  title: string;
  about?: ComponentChildren;
  actions?: ComponentChildren;
  children: ComponentChildren;
}) {
  return (
    <div class={css.page}>
      <header class={css.head}>
        <div class={css.words}>
          {props.before}
          <h1>{props.title}</h1>
          {props.about && <p class={css.about}>{props.about}</p>}
        </div>
        {props.actions && <div class={css.actions}>{props.actions}</div>}
      </header>
      {props.children}
    </div>
  );
}
