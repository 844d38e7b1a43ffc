import type { ComponentChildren } from "preact";
import { t } from "../i18n/chat.ts";
import { pagesOf } from "../i18n/format.ts";
import { Icon } from "../ui/Icon.tsx";
import type { Mark } from "./answerText.ts";
import css from "./CitationCard.module.css";
import { fileOf, sectionOf, titleOf } from "./citing.ts";
import { plain } from "./plain.ts";
import type { Cited } from "./turn.ts";

export interface CitationCardProps {
  mark: Mark;
  number: number;
  citation: Cited;
  /** Which of `of` sources this is, from 0. */
  at: number;
  of: number;
  onPage: (by: number) => void;
  onOpen: () => void;
}

/** One source: where the quote stands, the quote itself, and what checking it gave. Spans only: it stands in a line. */
export function CitationCard({ mark, number, citation, at, of, onPage, onOpen }: CitationCardProps) {
  const file = fileOf(citation);
  const where = [pagesOf(citation), sectionOf(citation)].filter(Boolean);
  return (
    <span class={css.card}>
      <span class={css.head}>
        <span class={css.number}>{number}</span>
        <span class={css.title} dir="auto">
          {titleOf(citation)}
        </span>
        {of > 1 && (
          <span class={css.pager}>
            <Turn label={t("source_before")} onClick={() => onPage(-1)}>
              <Icon name="chevronLeft" size={14} />
            </Turn>
            <span aria-live="polite">{t("source_of", at + 1, of)}</span>
            <Turn label={t("source_after")} onClick={() => onPage(1)}>
              <Icon name="chevronRight" size={14} />
            </Turn>
          </span>
        )}
      </span>
      {where.length > 0 && <span class={css.where}>{where.join(" · ")}</span>}
      {file && file !== titleOf(citation) && (
        <span class={css.file}>
          <Icon name="document" size={13} />
          <span>{file}</span>
        </span>
      )}
      <q class={css.quote} dir="auto">
        {plain(citation.quote)}
      </q>
      {mark.claim && (
        <span class={css.verdict} data-verdict={mark.claim.verdict}>
          <Icon name={mark.claim.verdict === "confirmed" ? "check" : "help"} size={14} />
          <span>
            {mark.claim.verdict === "confirmed" ? t("confirmed_why") : t("unconfirmed_why")}
            {mark.claim.derived && <span class={css.derived}>{t("calculated", plain(mark.claim.derived))}</span>}
          </span>
        </span>
      )}
      {citation.ocr && <span class={css.note}>{t("read_by_ocr")}</span>}
      {citation.described_by && <span class={css.note}>{t("described_by", citation.described_by)}</span>}
      {citation.corrected && <span class={css.note}>{t("corrected")}</span>}
      {citation.state === "changed" && <span class={css.note}>{t("state_changed")}</span>}
      {citation.state === "erased" && <span class={css.note}>{t("state_erased")}</span>}
      <button type="button" class={css.open} onClick={onOpen}>
        {citation.source_type === "pdf" ? t("open_at_quote") : t("open_source")}
        <Icon name="chevronRight" size={14} />
      </button>
    </span>
  );
}

function Turn(props: { label: string; onClick: () => void; children: ComponentChildren }) {
  return (
    <button type="button" class={css.turn} aria-label={props.label} title={props.label} onClick={props.onClick}>
      {props.children}
    </button>
  );
}
