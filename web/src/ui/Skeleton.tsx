import { t } from "../i18n/frame.ts";
import css from "./Skeleton.module.css";

/** Grey lines in the place of what is being loaded, so that nothing jumps when it comes. */
export function Skeleton({ lines = 3, label }: { lines?: number; label?: string }) {
  return (
    <div class={css.skeleton} role="status">
      <span class="visually-hidden">{label ?? t("loading")}</span>
      {Array.from({ length: lines }, (_, line) => (
        <div key={line} class={css.line} />
      ))}
    </div>
  );
}
