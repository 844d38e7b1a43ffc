import { t } from "../i18n/documents.ts";
import { Badge } from "../ui/Badge.tsx";
import { Spinner } from "../ui/Spinner.tsx";
import css from "./StatusBadge.module.css";
import { OCR_PENDING, type Watched } from "./watching.ts";

const TONES = {
  PENDING: "plain",
  PROCESSING: "accent",
  READY: "good",
  PARTIAL: "warn",
  NEEDS_OCR: "warn",
  ENCRYPTED: "bad",
  FAILED: "bad",
  DELETING: "plain",
  DELETED: "plain",
} as const;

/** A document's status in words; a wheel turns while it is being worked on. */
export function StatusBadge({ document }: { document: Pick<Watched, "status" | "error" | "progress"> }) {
  const { status, progress } = document;
  if (!isKnown(status)) return <Badge>{status}</Badge>;
  const isReadByOcr = document.error?.code === OCR_PENDING;
  const works = isReadByOcr || status === "PROCESSING" || status === "DELETING";
  return (
    <Badge tone={isReadByOcr ? "accent" : TONES[status]}>
      {works && (
        <span class={css.wheel}>
          <Spinner size={12} />
        </span>
      )}
      {isReadByOcr
        ? t("ocr_pending")
        : status === "PROCESSING" && progress
          ? t("status_PROCESSING_page", progress.page, progress.page_count)
          : t(`status_${status}`)}
    </Badge>
  );
}

function isKnown(status: string): status is keyof typeof TONES {
  return status in TONES;
}
