import css from "./Spinner.module.css";

/** Says that something runs; put the words for it beside it. */
export function Spinner({ size = 20 }: { size?: number }) {
  return (
    <svg class={css.spinner} aria-hidden="true" width={size} height={size} viewBox="0 0 24 24" fill="none">
      <circle class={css.track} cx="12" cy="12" r="9" stroke="currentColor" stroke-width="2.5" />
      <path d="M21 12a9 9 0 0 0-9-9" stroke="currentColor" stroke-width="2.5" stroke-linecap="round" />
    </svg>
  );
}
