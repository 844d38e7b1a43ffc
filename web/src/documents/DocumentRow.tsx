import type { Document } from "../api/types.ts";
import { href } from "../app/router.ts";
import { t } from "../i18n/documents.ts";
import { ago, dayAndTime } from "../i18n/format.ts";
import { Badge } from "../ui/Badge.tsx";
import { Menu, type MenuItem } from "../ui/Menu.tsx";
import css from "./DocumentRow.module.css";
import { labelsOf } from "./labels.ts";
import { StatusBadge } from "./StatusBadge.tsx";

const SHOWN_LABELS = 4;

export function DocumentRow(props: {
  document: Document;
  selected: boolean;
  onSelect: (selected: boolean) => void;
  actions: readonly MenuItem[];
}) {
  const { document } = props;
  const labels = labelsOf(document);
  return (
    <li class={css.row} data-selected={props.selected || undefined}>
      <input
        type="checkbox"
        class={css.check}
        checked={props.selected}
        aria-label={t("select", document.title)}
        onChange={(event) => props.onSelect(event.currentTarget.checked)}
      />
      <div class={css.main}>
        <a class={css.title} href={href({ name: "document", document_id: document.document_id, page: null })}>
          {document.title}
        </a>
        <p class={css.facts}>{factsOf(document).join(" · ")}</p>
        {labels.length > 0 && (
          <ul class={css.labels} aria-label={t("labels")}>
            {labels.slice(0, SHOWN_LABELS).map((label) => (
              <li key={label}>
                <Badge>{label}</Badge>
              </li>
            ))}
            {labels.length > SHOWN_LABELS && <li class={css.more}>+{labels.length - SHOWN_LABELS}</li>}
          </ul>
        )}
      </div>
      <div class={css.status}>
        <StatusBadge document={document} />
        <time class={css.time} dateTime={document.updated_at} title={dayAndTime(document.updated_at)}>
          {ago(document.updated_at)}
        </time>
      </div>
      <Menu label={t("actions", document.title)} items={props.actions} class={css.menu} />
    </li>
  );
}

/** The file's path below the tenant's uploads. */
export function fileOf(document: Pick<Document, "key">): string {
  return document.key.split("/").slice(2).join("/");
}

function factsOf(document: Document): string[] {
  const isPdf = document.source_type === "pdf";
  const facts = [isPdf ? fileOf(document) : kindOf(document)];
  if (document.page_count && isPdf) facts.push(t("pages", document.page_count));
  return facts;
}

/** What a document was made from, in words. */
export function kindOf({ source_type }: Document): string {
  const known = (["pdf", "faq", "resolved_query", "knowledge"] as const).find((each) => each === source_type);
  return known ? t(`source_${known}`) : source_type;
}
