import { useRef, useState } from "preact/hooks";
import { useAction } from "../api/loading.ts";
import { t } from "../i18n/people.ts";
import { Badge } from "../ui/Badge.tsx";
import { Button } from "../ui/Button.tsx";
import { Dialog } from "../ui/Dialog.tsx";
import { ErrorNotice } from "../ui/ErrorNotice.tsx";
import { Scroller } from "../ui/Scroller.tsx";
import { type ImportReport, importFaqs } from "./calls.ts";
import css from "./ImportDialog.module.css";
import shared from "./people.module.css";

const MAX_BYTES = 2_000_000;
const OUTCOMES = ["created", "updated", "unchanged", "failed"] as const;
const TONES = { created: "good", updated: "good", unchanged: "plain", failed: "bad" } as const;

/** Imports a CSV file of FAQs, and shows what became of each row. */
export function ImportDialog({ onClose, onImported }: { onClose: () => void; onImported: () => void }) {
  const input = useRef<HTMLInputElement>(null);
  const [refused, setRefused] = useState("");
  const { busy, error, run } = useAction();
  const [report, setReport] = useState<ImportReport | null>(null);
  const take = async (file: File) => {
    setReport(null);
    setRefused(refusalOf(file));
    if (refusalOf(file)) return;
    await run(async () => {
      setReport(await importFaqs(file));
      onImported();
    });
  };
  return (
    <Dialog
      wide
      title={t("import_title")}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{t("close")}</Button>
          <Button
            kind={report ? "secondary" : "primary"}
            icon="upload"
            busy={busy}
            onClick={() => input.current?.click()}
          >
            {t(busy ? "importing" : "import_choose")}
          </Button>
        </>
      }
    >
      <p class={shared.soft}>{t("import_text")}</p>
      <input
        ref={input}
        type="file"
        hidden
        aria-label={t("import_choose")}
        accept=".csv,text/csv,text/tab-separated-values"
        onChange={(event) => {
          const [file] = event.currentTarget.files ?? [];
          event.currentTarget.value = "";
          if (file) void take(file);
        }}
      />
      {refused && (
        <p class={css.refused} role="alert">
          {refused}
        </p>
      )}
      {!refused && error !== null && <ErrorNotice error={error} />}
      {report && <Report report={report} />}
    </Dialog>
  );
}

function refusalOf(file: File): string {
  if (!/\.(csv|tsv|txt)$/i.test(file.name)) return t("import_not_csv");
  return file.size > MAX_BYTES ? t("import_too_large") : "";
}

function Report({ report }: { report: ImportReport }) {
  const [onlyFailed, setOnlyFailed] = useState(report.failed > 0);
  const rows = report.rows.filter((row) => !onlyFailed || row.outcome === "failed");
  return (
    <div class={shared.stack}>
      <div class={shared.tight} role="status">
        <p class={css.counts}>
          {OUTCOMES.filter((outcome) => report[outcome] > 0).map((outcome) => (
            <Badge key={outcome} tone={TONES[outcome]}>
              {report[outcome]} {t(`import_${outcome}`)}
            </Badge>
          ))}
        </p>
        <p>{report.failed > 0 ? t("import_some_failed", report.failed) : t("import_all_well")}</p>
      </div>
      {report.failed > 0 && report.failed < report.rows.length && (
        <label class={css.only}>
          <input
            type="checkbox"
            checked={onlyFailed}
            onChange={(event) => setOnlyFailed(event.currentTarget.checked)}
          />
          {t("import_only_failed")}
        </label>
      )}
      <Scroller class={css.scroll} label={t("import_report")}>
        <table class={css.table}>
          <thead>
            <tr>
              <th scope="col">{t("import_row")}</th>
              <th scope="col">{t("import_outcome")}</th>
              <th scope="col">{t("import_problem")}</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={row.row}>
                <td>{row.row}</td>
                <td>
                  <Badge tone={TONES[row.outcome]}>{t(`import_${row.outcome}`)}</Badge>
                </td>
                <td class={css.problem}>{row.error}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroller>
    </div>
  );
}
