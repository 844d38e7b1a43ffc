import { useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useMemo, useState } from "preact/hooks";
import type { Document, DocumentDetail, Report } from "../api/types.ts";
import { navigate } from "../app/router.ts";
import { can } from "../app/session.ts";
import { t } from "../i18n/documents.ts";
import { bytes, dayAndTime } from "../i18n/format.ts";
import { locale } from "../i18n/locale.ts";
import { BackLink } from "../ui/BackLink.tsx";
import { Badge } from "../ui/Badge.tsx";
import { Button } from "../ui/Button.tsx";
import { EmptyState } from "../ui/EmptyState.tsx";
import { ErrorNotice } from "../ui/ErrorNotice.tsx";
import { Facts } from "../ui/Facts.tsx";
import { Page } from "../ui/Page.tsx";
import { Panel } from "../ui/Panel.tsx";
import { Skeleton } from "../ui/Skeleton.tsx";
import { askAbout, isAskable, openFile } from "./asking.ts";
import { readDocument, readReport } from "./calls.ts";
import { DeleteDialog } from "./DeleteDialog.tsx";
import { fileOf, kindOf } from "./DocumentRow.tsx";
import css from "./DocumentView.module.css";
import { LabelsDialog } from "./LabelsDialog.tsx";
import { CARD, labelsOf, shown } from "./labels.ts";
import { deleteWithUndo, makeWatch } from "./library.ts";
import { StatusBadge } from "./StatusBadge.tsx";
import { ChooseFiles } from "./UploadButton.tsx";
import { UploadTray } from "./UploadTray.tsx";
import { uploads } from "./uploading.ts";
import { isMoving } from "./watching.ts";

/** One document: its report and labels, and its pages beside, opened at `page` if the address names one. */
export default function DocumentView({ document_id, page }: { document_id: string; page: number | null }) {
  const { found, error, load, put } = useDocument(document_id);
  const [dialog, setDialog] = useState<"delete" | "labels" | null>(null);
  const title = found?.title ?? "";
  useEffect(() => {
    if (found && page !== null) openFile(found, page);
    // Once, when it is there: later changes of the document are no reason to turn the pane.
  }, [document_id, page, title !== ""]);
  const back = <BackLink href="#/documents">{t("back")}</BackLink>;
  if (found === undefined) {
    return (
      <Page before={back} title={t("title")}>
        {error ? <ErrorNotice error={error} retry={load} /> : <Skeleton lines={6} label={t("loading")} />}
      </Page>
    );
  }
  if (found === null) {
    return (
      <EmptyState icon="document" title={t("gone_title")} action={back}>
        {t("gone_text")}
      </EmptyState>
    );
  }
  return (
    <Page
      before={back}
      title={found.title}
      about={<StatusBadge document={found} />}
      actions={<Actions document={found} open={setDialog} />}
    >
      {can("editor", "admin") && <UploadTray of={fileOf(found)} />}
      <ReportPanel document={found} />
      <div class={css.columns}>
        <About document={found} />
        <Labels document={found} onEdit={() => setDialog("labels")} />
      </div>
      {dialog === "labels" && (
        <LabelsDialog
          documents={[found]}
          onClose={() => setDialog(null)}
          onSaved={(now) => put({ ...found, ...now })}
        />
      )}
      {dialog === "delete" && (
        <DeleteDialog
          documents={[found]}
          onClose={() => setDialog(null)}
          onDelete={(verify) => {
            setDialog(null);
            deleteWithUndo([found], verify, () => undefined);
            navigate({ name: "documents" });
          }}
        />
      )}
    </Page>
  );
}

/** The document, followed until it has come to rest. Undefined: not read yet; null: there is none. */
function useDocument(document_id: string) {
  const found = useSignal<DocumentDetail | null | undefined>(undefined);
  const error = useSignal<unknown>(null);
  const watch = useMemo(
    () =>
      makeWatch((id, now) => {
        if (id === document_id) found.value = now && { ...found.peek(), ...now, pages: found.peek()?.pages ?? [] };
      }),
    [document_id, found],
  );
  const load = useMemo(
    () => async () => {
      error.value = null;
      try {
        const now = await readDocument(document_id);
        found.value = now;
        if (now && isMoving(now)) watch.follow(document_id, now);
      } catch (caught) {
        error.value = caught;
      }
    },
    [document_id, watch, found, error],
  );
  useEffect(() => {
    found.value = undefined;
    void load();
    return () => watch.stop();
  }, [load, watch, found]);
  const told = useMemo(() => new Set<number>(), []);
  useSignalEffect(() => {
    for (const each of uploads.all.value) {
      const state = each.state.value;
      if (state.kind !== "stored" || state.document_id !== document_id || told.has(each.id)) continue;
      told.add(each.id);
      watch.follow(document_id, found.peek() ?? null, true);
    }
  });
  return {
    found: found.value,
    error: error.value,
    load: () => void load(),
    put: (now: DocumentDetail) => {
      found.value = now;
    },
  };
}

function Actions({ document, open }: { document: Document; open: (dialog: "delete" | "labels") => void }) {
  const editor = can("editor", "admin");
  const isPdf = document.source_type === "pdf";
  return (
    <>
      {editor && (
        <Button icon="trash" kind="quiet" onClick={() => open("delete")}>
          {t("delete")}
        </Button>
      )}
      {isPdf && document.page_count > 0 && (
        <Button icon="document" onClick={() => openFile(document, 1)}>
          {t("open_file")}
        </Button>
      )}
      <Button
        icon="chat"
        kind="primary"
        disabled={!isAskable(document)}
        title={isAskable(document) ? undefined : t("not_ready_to_ask")}
        onClick={() => askAbout([document])}
      >
        {t("ask")}
      </Button>
    </>
  );
}

function ReportPanel({ document }: { document: DocumentDetail }) {
  const [report, setReport] = useState<Report | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [again, setAgain] = useState(0);
  const language = locale.value;
  // The report follows the status, the page's language, and a retry.
  useEffect(() => {
    let mine = true;
    setError(null);
    readReport(document.document_id).then(
      (now) => mine && setReport(now),
      (caught) => mine && setError(caught),
    );
    return () => {
      mine = false;
    };
  }, [document.document_id, document.status, document.updated_at, language, again]);
  return (
    <Panel as="section" label={t("report")} padded>
      <h2 class={css.heading}>{t("report")}</h2>
      {error !== null && <ErrorNotice error={error} retry={() => setAgain(again + 1)} />}
      {error === null && report === null && <Skeleton lines={2} label={t("report_loading")} />}
      {report && (
        <>
          <p>{report.summary}</p>
          {report.error && report.status !== "ENCRYPTED" && (
            <p class={css.error} lang="en">
              {report.error.message}
            </p>
          )}
          {isMoving(document) && <p class={css.soft}>{t("moving_hint")}</p>}
          {report.findings.length > 0 && (
            <ul class={css.findings}>
              {report.findings.map((each) => (
                <li key={each.kind} class={css.finding}>
                  <p>{each.text}</p>
                  {each.remedy && (
                    <p class={css.soft}>
                      <strong>{t("remedy")}:</strong> {each.remedy}
                    </p>
                  )}
                </li>
              ))}
            </ul>
          )}
        </>
      )}
      {can("editor", "admin") && document.source_type === "pdf" && (
        <div class={css.replace}>
          <ChooseFiles
            size="s"
            onChosen={([chosen]) => chosen && void uploads.add([{ name: fileOf(document), file: chosen.file }], true)}
          >
            {t("new_version")}
          </ChooseFiles>
          <p class={css.soft}>{t("new_version_hint")}</p>
        </div>
      )}
    </Panel>
  );
}

function About({ document }: { document: DocumentDetail }) {
  const isPdf = document.source_type === "pdf";
  const facts: [string, string][] = [
    [t("kind"), kindOf(document)],
    [t("file"), fileOf(document)],
    [t("page_count"), isPdf && document.page_count ? String(document.page_count) : ""],
    ...CARD.map((name): [string, string] => [t(`card_${name}`), shown(document.identity[name])]),
    [t("size"), document.size_bytes ? bytes(document.size_bytes) : ""],
    [t("language"), languageName(document.language)],
    [t("passages"), document.chunk_count ? String(document.chunk_count) : ""],
    [t("added"), dayAndTime(document.created_at)],
    [t("updated"), dayAndTime(document.updated_at)],
  ];
  return (
    <Panel as="section" label={t("facts")} padded>
      <h2 class={css.heading}>{t("facts")}</h2>
      <Facts facts={facts} />
    </Panel>
  );
}

function Labels({ document, onEdit }: { document: Document; onEdit: () => void }) {
  const labels = labelsOf(document);
  return (
    <Panel as="section" label={t("labels")} padded>
      <div class={css.between}>
        <h2 class={css.heading}>{t("labels")}</h2>
        {can("editor", "admin") && (
          <Button size="s" icon="edit" kind="quiet" onClick={onEdit}>
            {t("label")}
          </Button>
        )}
      </div>
      {labels.length === 0 ? (
        <p class={css.soft}>{t("no_labels")}</p>
      ) : (
        <ul class={css.labels}>
          {labels.map((label) => (
            <li key={label}>
              <Badge>{label}</Badge>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}

function languageName(tag: string): string {
  if (!tag) return "";
  try {
    return new Intl.DisplayNames([locale.value], { type: "language" }).of(tag) ?? tag;
  } catch {
    return tag;
  }
}
