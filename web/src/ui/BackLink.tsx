import css from "./BackLink.module.css";
import { Icon } from "./Icon.tsx";

/** The way back to the list that one came from. */
export function BackLink({ href, children }: { href: string; children: string }) {
  return (
    <a class={css.back} href={href}>
      <Icon name="back" size={16} />
      {children}
    </a>
  );
}
