import { useSignalEffect } from "@preact/signals";
import { useEffect, useMemo, useState } from "preact/hooks";
import type { Document, DocumentStatus } from "../api/types.ts";
import { reachable } from "../app/connection.ts";
import { navigate } from "../app/router.ts";
import { can } from "../app/session.ts";
import { t } from "../i18n/documents.ts";
import { Button } from "../ui/Button.tsx";
import { EmptyState } from "../ui/EmptyState.tsx";
import { ErrorNotice } from "../ui/ErrorNotice.tsx";
import type { MenuItem } from "../ui/Menu.tsx";
import { More } from "../ui/More.tsx";
import { Page } from "../ui/Page.tsx";
import { Panel } from "../ui/Panel.tsx";
import { SearchField } from "../ui/SearchField.tsx";
import { SelectField } from "../ui/SelectField.tsx";
import { Skeleton } from "../ui/Skeleton.tsx";
import { askAbout, isAskable, openFile } from "./asking.ts";
import { DeleteDialog } from "./DeleteDialog.tsx";
import { DocumentRow } from "./DocumentRow.tsx";
import css from "./DocumentsView.module.css";
import { DropZone } from "./DropZone.tsx";
import { ErasureList } from "./ErasureList.tsx";
import { LabelsDialog } from "./LabelsDialog.tsx";
import { deleteWithUndo, Library, leaving } from "./library.ts";
import { UploadButton } from "./UploadButton.tsx";
import { UploadTray } from "./UploadTray.tsx";
import { uploads } from "./uploading.ts";

const FILTERS: readonly DocumentStatus[] = [
  "READY",
  "PARTIAL",
  "PROCESSING",
  "PENDING",
  "NEEDS_OCR",
  "ENCRYPTED",
  "FAILED",
];
const SEARCH_MS = 250;

type Dialog = { kind: "delete" | "labels"; documents: readonly Document[] };

/** The tenant's documents: upload, look through, ask about, label and delete them. */
export default function DocumentsView() {
  const library = useMemo(() => new Library(), []);
  const [dialog, setDialog] = useState<Dialog | null>(null);
  const editor = can("editor", "admin");
  useEffect(() => {
    void library.listing.reload();
    const seen = () => !document.hidden && library.hurry();
    document.addEventListener("visibilitychange", seen);
    return () => {
      document.removeEventListener("visibilitychange", seen);
      library.stop();
    };
  }, [library]);
  useUploaded(library);
  useSignalEffect(() => {
    if (reachable.value) library.hurry();
  });

  const shown = library.listing.items.value?.filter(isThere) ?? null;
  const selected = (shown ?? []).filter((each) => library.selected.value.has(each.document_id));
  const open = (kind: Dialog["kind"], documents: readonly Document[]) => setDialog({ kind, documents });
  const content = (
    <Page
      title={t("title")}
      about={t("lead")}
      actions={
        editor && (
          <>
            <span class={css.folder}>
              <UploadButton folder kind="quiet" />
            </span>
            <UploadButton />
          </>
        )
      }
    >
      {editor && <UploadTray />}
      {editor && <ErasureList />}
      <Filters library={library} />
      <Listed library={library} shown={shown} selected={selected} editor={editor} open={open} />
      {selected.length > 0 && <SelectionBar library={library} selected={selected} editor={editor} open={open} />}
      {dialog?.kind === "delete" && (
        <DeleteDialog
          documents={dialog.documents}
          onClose={() => setDialog(null)}
          onDelete={(verify) => {
            setDialog(null);
            library.selected.value = new Set();
            deleteWithUndo(dialog.documents, verify, (id) => library.put(id, null));
          }}
        />
      )}
      {dialog?.kind === "labels" && (
        <LabelsDialog
          documents={dialog.documents}
          onClose={() => setDialog(null)}
          onSaved={(now) => library.put(now.document_id, now)}
        />
      )}
    </Page>
  );
  return editor ? <DropZone>{content}</DropZone> : content;
}

/** What is deleted is nothing to look at: no answer uses it any more, whatever is still to be removed. */
function isThere({ document_id, status }: Document): boolean {
  return status !== "DELETING" && status !== "DELETED" && !leaving.value.has(document_id);
}

/** Show what has been uploaded as soon as it is stored. */
function useUploaded(library: Library): void {
  const told = useMemo(() => new Set<string>(), []);
  useSignalEffect(() => {
    for (const each of uploads.all.value) {
      const state = each.state.value;
      if (state.kind !== "stored" || told.has(`${each.id}`)) continue;
      told.add(`${each.id}`);
      void library.uploaded(state.document_id, state.replaced);
    }
  });
}

function Filters({ library }: { library: Library }) {
  const [typed, setTyped] = useState(library.q.value);
  useEffect(() => {
    if (typed === library.q.peek()) return;
    const timer = setTimeout(() => {
      library.q.value = typed;
      void library.listing.reload();
    }, SEARCH_MS);
    return () => clearTimeout(timer);
  }, [typed, library]);
  return (
    <search class={css.filters}>
      <SearchField label={t("search")} value={typed} maxLength={200} onInput={setTyped} />
      <SelectField
        label={t("status_filter")}
        hideLabel
        value={library.status.value ?? ""}
        onChange={(value) => {
          library.status.value = FILTERS.find((each) => each === value) ?? null;
          void library.listing.reload();
        }}
        options={[
          { value: "", label: t("any_status") },
          ...FILTERS.map((status) => ({ value: status, label: t(`status_${status}`) })),
        ]}
      />
    </search>
  );
}

interface ListedProps {
  library: Library;
  shown: readonly Document[] | null;
  selected: readonly Document[];
  editor: boolean;
  open: (kind: Dialog["kind"], documents: readonly Document[]) => void;
}

function Listed({ library, shown, selected, editor, open }: ListedProps) {
  const { listing } = library;
  const retry = () => void listing.reload();
  if (shown === null) {
    if (listing.error.value) return <ErrorNotice error={listing.error.value} retry={retry} />;
    return <Skeleton lines={8} label={t("loading")} />;
  }
  const failed = listing.error.value ? <ErrorNotice error={listing.error.value} retry={retry} /> : null;
  if (shown.length === 0 && !listing.next.value) return failed ?? <Nothing library={library} editor={editor} />;
  const all = selected.length === shown.length;
  return (
    <div class={css.listed} aria-busy={listing.loading.value}>
      {failed}
      <div class={css.count}>
        <label class={css.all}>
          <input
            type="checkbox"
            checked={all && shown.length > 0}
            ref={(box) => {
              if (box) box.indeterminate = selected.length > 0 && !all;
            }}
            onChange={() => {
              library.selected.value = new Set(all ? [] : shown.map((each) => each.document_id));
            }}
          />
          <span class="visually-hidden">{t("select_all")}</span>
        </label>
        <span role="status">{t("shown", shown.length, listing.next.value !== "")}</span>
      </div>
      <Panel as="ul" label={t("list")}>
        {shown.map((each) => (
          <DocumentRow
            key={each.document_id}
            document={each}
            selected={library.selected.value.has(each.document_id)}
            onSelect={(on) => select(library, each.document_id, on)}
            actions={actionsOf(each, editor, open)}
          />
        ))}
      </Panel>
      <More listing={listing} />
    </div>
  );
}

function Nothing({ library, editor }: { library: Library; editor: boolean }) {
  if (library.q.value || library.status.value) {
    const showAll = () => {
      library.q.value = "";
      library.status.value = null;
      void library.listing.reload();
    };
    return (
      <EmptyState
        icon="search"
        title={t("none_found_title")}
        action={<Button onClick={showAll}>{t("show_all")}</Button>}
      >
        {t("none_found", library.q.value)}
      </EmptyState>
    );
  }
  return (
    <EmptyState icon="document" title={t("none_title")} action={editor && <UploadButton />}>
      {t(editor ? "none_text" : "none_reader_text")}
    </EmptyState>
  );
}

function SelectionBar({ library, selected, editor, open }: Omit<ListedProps, "shown">) {
  const askable = selected.filter(isAskable);
  return (
    <div class={css.bar} role="toolbar" aria-label={t("selected", selected.length)}>
      <span class={css.chosen} role="status">
        {t("selected", selected.length)}
      </span>
      <Button size="s" icon="chat" kind="primary" disabled={askable.length === 0} onClick={() => askAbout(askable)}>
        {t("ask_these")}
      </Button>
      {editor && (
        <>
          <Button size="s" icon="label" onClick={() => open("labels", selected)}>
            {t("label")}
          </Button>
          <Button size="s" icon="trash" onClick={() => open("delete", selected)}>
            {t("delete")}
          </Button>
        </>
      )}
      <Button
        size="s"
        kind="quiet"
        onClick={() => {
          library.selected.value = new Set();
        }}
      >
        {t("select_none")}
      </Button>
    </div>
  );
}

function select(library: Library, document_id: string, on: boolean): void {
  const chosen = new Set(library.selected.value);
  if (on) chosen.add(document_id);
  else chosen.delete(document_id);
  library.selected.value = chosen;
}

function actionsOf(document: Document, editor: boolean, open: ListedProps["open"]): MenuItem[] {
  const items: MenuItem[] = [];
  if (isAskable(document)) items.push({ label: t("ask"), icon: "chat", onSelect: () => askAbout([document]) });
  if (isAskable(document) && document.source_type === "pdf")
    items.push({ label: t("open_file"), icon: "external", onSelect: () => openFile(document, null) });
  items.push({
    label: t("details"),
    icon: "document",
    onSelect: () => navigate({ name: "document", document_id: document.document_id, page: null }),
  });
  if (editor) {
    items.push({ label: t("label"), icon: "label", onSelect: () => open("labels", [document]) });
    items.push({
      label: t("delete"),
      icon: "trash",
      danger: true,
      apart: true,
      onSelect: () => open("delete", [document]),
    });
  }
  return items;
}
