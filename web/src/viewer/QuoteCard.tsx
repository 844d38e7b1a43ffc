import type { Citation, StoredCitation } from "../api/types.ts";
import { pagesOf } from "../i18n/format.ts";
import { t } from "../i18n/viewer.ts";
import { IconButton } from "../ui/Button.tsx";
import { Spinner } from "../ui/Spinner.tsx";
import css from "./QuoteCard.module.css";

/** Whether a quote is marked; `unsure`: it is not, because its place is not certain. */
export type QuoteState = "none" | "looking" | "marked" | "unsure";

interface Props {
  citation: Citation | StoredCitation | null;
  state: QuoteState;
  /** How many citations the answer has, and which of them this is. */
  count: number;
  index: number;
  onLeaf: (index: number) => void;
}

/** The quote that the pane was opened for, whether it is marked below, and the way to the answer's other citations. */
export function QuoteCard({ citation, state, count, index, onLeaf }: Props) {
  if (!citation) return null;
  return (
    <div class={css.card} data-quote={index + 1} data-state={state}>
      <div class={css.head}>
        <span class={css.number}>{index + 1}</span>
        <span class={css.place}>
          <bdi>{placeOf(citation)}</bdi>
        </span>
        {count > 1 && (
          <span class={css.leaf}>
            <IconButton
              size="s"
              icon="chevronLeft"
              label={t("earlier_quote")}
              onClick={() => onLeaf((index + count - 1) % count)}
            />
            <span class={css.count}>{t("nth", index + 1, count)}</span>
            <IconButton
              size="s"
              icon="chevronRight"
              label={t("next_quote")}
              onClick={() => onLeaf((index + 1) % count)}
            />
          </span>
        )}
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a long quote scrolls, and must be reached by keyboard */}
      <blockquote class={css.quote} dir="auto" tabIndex={0}>
        {citation.quote}
      </blockquote>
      <p class={css.state} role="status">
        {state === "looking" && <Spinner size={14} />}
        {state === "marked" && <span class={css.swatch} />}
        {sentenceOn(citation, state)}
      </p>
    </div>
  );
}

function placeOf(citation: Citation): string {
  return [pagesOf(citation), citation.section.replaceAll(" > ", " › ")].filter(Boolean).join(" · ");
}

function sentenceOn(citation: Citation | StoredCitation, state: QuoteState): string {
  if (citation.corrected) return t("corrected");
  if (state === "unsure")
    return "state" in citation && citation.state === "changed" ? t("unsure_changed") : t("unsure");
  return state === "none" ? "" : t(state);
}
