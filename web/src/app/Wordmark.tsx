import css from "./Wordmark.module.css";

/** The product's name, with its mark: a page with a marked line. */
export function Wordmark({ large }: { large?: boolean }) {
  const size = large ? 44 : 26;
  return (
    <span class={large ? css.large : css.wordmark}>
      <svg aria-hidden="true" width={size} height={size} viewBox="0 0 32 32">
        <rect width="32" height="32" rx="8" class={css.ground} />
        <path d="M9 6h10l5 5v15H9z" class={css.sheet} />
        <path d="M19 6v5h5z" class={css.fold} />
        <path d="M12 15h9v3h-9z" class={css.mark} />
        <path d="M12 20.500h9v1.500h-9z" class={css.fold} />
      </svg>
      Recto
    </span>
  );
}
