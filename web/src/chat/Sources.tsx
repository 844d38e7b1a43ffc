import { t } from "../i18n/chat.ts";
import { pagesOf } from "../i18n/format.ts";
import { Icon } from "../ui/Icon.tsx";
import {
  alsoRead,
  type CitedDocument,
  citedDocuments,
  type NumberedCitation,
  openCitation,
  openPage,
  type ReadDocument,
  titleOf,
} from "./citing.ts";
import css from "./Sources.module.css";
import { limitTo, scope } from "./scope.ts";
import type { Turn } from "./turn.ts";

/** What an answer cites, by document, and apart from it what was read and not quoted. */
export function Sources({ turn, citations }: { turn: Turn; citations: readonly NumberedCitation[] }) {
  const cited = citedDocuments(citations);
  const read = alsoRead(turn.sources, citations);
  if (!cited.length) return null;
  return (
    <section class={css.sources} aria-label={t("sources")}>
      <div class={css.head}>
        <h3>{t("cited")}</h3>
        <p>{t("sources_hint")}</p>
      </div>
      <ul>
        {cited.map((each) => (
          <CitedRow key={each.document_id} document={each} all={citations} />
        ))}
      </ul>
      {read.length > 0 && (
        <details class={css.more}>
          <summary>
            <Icon name="chevronRight" size={14} />
            {t(
              "also_read",
              read.reduce((sum, each) => sum + each.sources.length, 0),
            )}
          </summary>
          <ul>
            {read.map((each) => (
              <ReadRow key={each.document_id} document={each} />
            ))}
          </ul>
        </details>
      )}
    </section>
  );
}

function CitedRow({ document, all }: { document: CitedDocument; all: readonly NumberedCitation[] }) {
  return (
    <li class={css.row}>
      <Tick document_id={document.document_id} title={document.title} file={document.file_name} />
      <span class={css.places}>
        {document.citations.map((each) => (
          <button
            key={each.number}
            type="button"
            class={css.place}
            aria-label={t("chip", each.number, [titleOf(each.citation), pagesOf(each.citation)])}
            onClick={() => openCitation(all, all.indexOf(each))}
          >
            <span class={css.number}>{each.number}</span>
            {pagesOf(each.citation) || t("open_source")}
          </button>
        ))}
      </span>
    </li>
  );
}

function ReadRow({ document }: { document: ReadDocument }) {
  return (
    <li class={css.row}>
      <Tick document_id={document.document_id} title={document.title} file="" />
      <span class={css.places}>
        {document.sources.map((source) => (
          <button
            key={source.chunk_id}
            type="button"
            class={css.place}
            aria-label={[document.title, pagesOf(source)].join(", ")}
            onClick={() => openPage(source)}
          >
            {pagesOf(source) || t("open_source")}
          </button>
        ))}
      </span>
    </li>
  );
}

function Tick({ document_id, title, file }: { document_id: string; title: string; file: string }) {
  const ticked = scope.value.some((each) => each.document_id === document_id);
  return (
    <label class={css.tick} title={t("limit_next")}>
      <input
        type="checkbox"
        checked={ticked}
        onChange={({ currentTarget }) => limitTo({ document_id, title }, currentTarget.checked)}
      />
      <span class={css.words}>
        <span class="visually-hidden">{t("limit_next")}: </span>
        <span class={css.title} dir="auto">
          {title}
        </span>
        {file && file !== title && <span class={css.file}>{file}</span>}
      </span>
    </label>
  );
}
