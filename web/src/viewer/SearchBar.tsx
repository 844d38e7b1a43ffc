import { useEffect, useRef } from "preact/hooks";
import { t } from "../i18n/viewer.ts";
import { IconButton } from "../ui/Button.tsx";
import { classes } from "../ui/classes.ts";
import css from "./SearchBar.module.css";

interface Props {
  words: string;
  count: number;
  index: number;
  isDone: boolean;
  lacksText: boolean;
  onWords: (words: string) => void;
  onLeaf: (step: number) => void;
  onClose: () => void;
}

/** Searches in the document: Enter goes to the next place, Shift+Enter to the one before, Esc closes. */
export function SearchBar({ words, count, index, isDone, lacksText, onWords, onLeaf, onClose }: Props) {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Enter" && event.key !== "Escape") return;
    event.preventDefault();
    if (event.key === "Escape") onClose();
    else onLeaf(event.shiftKey ? -1 : 1);
  };
  const found = count > 0 ? t("hits", index + 1, count, isDone) : isDone ? t("no_hits") : t("searching");
  const isUntold = lacksText && isDone && count === 0;
  return (
    <search class={css.bar}>
      <input
        ref={field}
        type="text"
        class={css.field}
        aria-label={t("search")}
        placeholder={t("search")}
        value={words}
        onInput={(event) => onWords(event.currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      <span class={classes(css.found, isUntold && css.more)} role="status">
        {words.trim().length > 1 && found}
        {isUntold && <span class={css.textless}> {t("textless")}</span>}
      </span>
      <IconButton size="s" icon="arrowUp" label={t("previous_hit")} onClick={() => onLeaf(-1)} />
      <IconButton size="s" icon="arrowDown" label={t("next_hit")} onClick={() => onLeaf(1)} />
      <IconButton size="s" icon="close" label={t("close_search")} onClick={onClose} />
    </search>
  );
}
