import { useState } from "preact/hooks";
import { api, data } from "../api/client.ts";
import { useAction } from "../api/loading.ts";
import type { components } from "../api/schema";
import type { Source } from "../api/types.ts";
import { can } from "../app/session.ts";
import { t } from "../i18n/chat.ts";
import { number, pagesOf } from "../i18n/format.ts";
import { Button } from "../ui/Button.tsx";
import { ErrorNotice } from "../ui/ErrorNotice.tsx";
import { openSource } from "../viewer/pane.ts";
import { openPage, sectionOf, titleOf } from "./citing.ts";
import css from "./NearMisses.module.css";
import { plain } from "./plain.ts";
import { scrolledTo } from "./scrolling.ts";
import type { Turn } from "./turn.ts";

type Found = components["schemas"]["SearchOut"];
type Passage = components["schemas"]["ExplainedPassageOut"];

const SHOWN = 3;
const EXCERPT = 220;

/** After a refusal: where one may look. Editors also see the passages and how near they come, when they ask. */
export function NearMisses({ turn }: { turn: Turn }) {
  const [found, setFound] = useState<Found | null>(null);
  const { busy, error, run } = useAction();
  const look = () => void run(() => search(turn).then(setFound));
  if (!found) {
    return (
      <>
        {turn.nearest.length > 0 && <Nearest passages={turn.nearest} />}
        {can("editor", "admin") && (
          <div class={css.ask}>
            <Button size="s" icon="search" busy={busy} onClick={look}>
              {t("near")}
            </Button>
            <span class={css.who}>{t("near_words")}</span>
            {error !== null && <ErrorNotice error={error} retry={look} />}
          </div>
        )}
      </>
    );
  }
  if (!found.passages.length) return <p class={css.who}>{t("near_none")}</p>;
  return (
    <section class={css.near} aria-label={t("near_title")} ref={scrolledTo}>
      <p>{t("near_text", share(found.relevance), share(found.threshold))}</p>
      <ol>
        {found.passages.map((passage) => (
          <li key={passage.passage_id}>
            <button type="button" class={css.passage} onClick={() => open(passage)}>
              <span class={css.title}>{plain(passage.title)}</span>
              <span class={css.where}>{whereOf(passage)}</span>
              <span class={css.excerpt} dir="auto">
                {excerpt(passage.text)}
              </span>
            </button>
          </li>
        ))}
      </ol>
    </section>
  );
}

function Nearest({ passages }: { passages: readonly Source[] }) {
  return (
    <section class={css.near} aria-label={t("nearest")}>
      <p>{t("nearest_text")}</p>
      <ol>
        {passages.map((passage) => (
          <li key={passage.chunk_id}>
            <button type="button" class={css.passage} onClick={() => openPage(passage)}>
              <span class={css.title}>{titleOf(passage)}</span>
              <span class={css.where}>{whereOf(passage)}</span>
            </button>
          </li>
        ))}
      </ol>
    </section>
  );
}

function whereOf(passage: Source | Passage): string {
  return [pagesOf(passage), sectionOf(passage)].filter(Boolean).join(" · ");
}

function search({ question, scope }: Turn): Promise<Found> {
  const filter = scope.length ? { filter: { document_id: { $in: scope.map((each) => each.document_id) } } } : {};
  return data(api().POST("/search", { body: { question: question ?? "", limit: SHOWN, ...filter } }));
}

function open({ document_id, title, page_start }: Passage): void {
  openSource({ document_id, title: plain(title), citations: [], index: 0, page: page_start });
}

function share(value: number): string {
  return number(value, { style: "percent" });
}

function excerpt(text: string): string {
  const line = plain(text).replace(/\s+/g, " ").trim();
  return line.length > EXCERPT ? `${line.slice(0, EXCERPT).replace(/\s+\S*$/, "")} …` : line;
}
