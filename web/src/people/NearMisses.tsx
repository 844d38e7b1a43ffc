import { useState } from "preact/hooks";
import { asProblem } from "../api/problem.ts";
import { adviceOn } from "../app/advice.ts";
import { can } from "../app/session.ts";
import { t } from "../i18n/people.ts";
import { Button } from "../ui/Button.tsx";
import { Scroller } from "../ui/Scroller.tsx";
import { openSource } from "../viewer/pane.ts";
import { type NearPassage, readPassage } from "./calls.ts";
import css from "./NearMisses.module.css";
import shared from "./people.module.css";

/** Passages that came near a question: their documents open beside, and editors may read the passages themselves. */
export function NearMisses({ passages }: { passages: readonly NearPassage[] }) {
  return (
    <ul class={css.list}>
      {passages.map((each) => (
        <Near key={each.chunk_id} passage={each} />
      ))}
    </ul>
  );
}

function Near({ passage }: { passage: NearPassage }) {
  const [text, setText] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const { document_id, title } = passage;
  const show = async () => {
    setBusy(true);
    try {
      const found = await readPassage(passage.chunk_id);
      setText(found.text || found.original);
    } catch (error) {
      const problem = asProblem(error);
      setText(problem.status === 404 ? t("near_gone") : adviceOn(problem));
    }
    setBusy(false);
  };
  return (
    <li class={css.near}>
      <button
        type="button"
        class={shared.plainLink}
        aria-label={t("near_open", title)}
        onClick={() => openSource({ document_id, title, citations: [], index: 0 })}
      >
        {title}
      </button>
      <span class={css.share}>{t("near_share", Math.round(passage.relevance * 100))}</span>
      {can("editor", "admin") && text === null && (
        <Button size="s" kind="quiet" busy={busy} onClick={() => void show()}>
          {t("near_show")}
        </Button>
      )}
      {text !== null && (
        <Scroller class={css.text} label={title}>
          {text}
        </Scroller>
      )}
    </li>
  );
}
