import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Citation } from "../api/types.ts";
import { t } from "../i18n/viewer.ts";
import { ErrorNotice } from "../ui/ErrorNotice.tsx";
import { Skeleton } from "../ui/Skeleton.tsx";
import type { QuoteState } from "./QuoteCard.tsx";
import { parted, type StoredPage, storedPage } from "./stored.ts";
import css from "./TextView.module.css";

interface Props {
  citation: Citation | null;
  onState: (state: QuoteState) => void;
  document_id: string;
  page: number;
  /** What stands above the text: why it is shown in place of the file. */
  children?: ComponentChildren;
}

/** A document that has no pages to look at, or whose file cannot be shown: its stored text, with the quote marked. */
export function TextView({ citation, onState, document_id, page, children }: Props) {
  const [text, setText] = useState<StoredPage | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [attempt, setAttempt] = useState(0);
  const mark = useRef<HTMLElement>(null);
  useEffect(() => {
    let isLeft = false;
    setText(null);
    setError(null);
    storedPage(document_id, page).then(
      (read) => !isLeft && setText(read),
      (problem: unknown) => !isLeft && setError(problem),
    );
    return () => {
      isLeft = true;
    };
  }, [document_id, page, attempt]);
  const parts = text && citation && parted(text, citation);
  const state = text ? (parts ? "marked" : "unsure") : error ? "none" : "looking";
  useEffect(() => onState(state), [state, onState]);
  useEffect(() => mark.current?.scrollIntoView({ block: "center" }), [text, citation]);
  return (
    <>
      {children && <div class={css.above}>{children}</div>}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reached by keyboard */}
      <section class={css.scroller} tabIndex={0} aria-label={t("text")}>
        {error !== null && !children && <ErrorNotice error={error} retry={() => setAttempt(attempt + 1)} />}
        {!text && error === null && <Skeleton lines={9} label={t("opening")} />}
        {text && (
          <>
            {children && <p class={css.note}>{t("text_instead", page)}</p>}
            <div class={css.text} dir="auto">
              {parts ? (
                <>
                  {parts[0]}
                  <mark ref={mark} class={css.mark}>
                    {parts[1]}
                  </mark>
                  {parts[2]}
                </>
              ) : (
                text.text
              )}
            </div>
          </>
        )}
      </section>
    </>
  );
}
