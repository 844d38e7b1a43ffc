import { useSignal } from "@preact/signals";
import { useEffect, useMemo, useState } from "preact/hooks";
import { Listing } from "../api/listing.ts";
import { useEvery } from "../api/loading.ts";
import { asProblem } from "../api/problem.ts";
import type { Faq } from "../api/types.ts";
import { adviceOn } from "../app/advice.ts";
import { can } from "../app/session.ts";
import { t } from "../i18n/people.ts";
import { Badge } from "../ui/Badge.tsx";
import { Button, IconButton } from "../ui/Button.tsx";
import { Dialog } from "../ui/Dialog.tsx";
import { EmptyState } from "../ui/EmptyState.tsx";
import { ErrorNotice } from "../ui/ErrorNotice.tsx";
import { More } from "../ui/More.tsx";
import { Page } from "../ui/Page.tsx";
import { Panel } from "../ui/Panel.tsx";
import { SearchField } from "../ui/SearchField.tsx";
import { Skeleton } from "../ui/Skeleton.tsx";
import { saveFile } from "../ui/saveFile.ts";
import { toast } from "../ui/toast.ts";
import { deleteFaq, exportFaqs, listFaqs } from "./calls.ts";
import { FaqDialog } from "./FaqDialog.tsx";
import { ImportDialog } from "./ImportDialog.tsx";
import css from "./people.module.css";

const LOOK_EVERY_S = 4;
type Open = { kind: "edit"; faq: Faq | null } | { kind: "delete"; faq: Faq } | { kind: "import" };

/** The questions and answers that editors have written. */
export default function FaqsView() {
  const listing = useMemo(() => new Listing<Faq>(listFaqs), []);
  const leaving = useSignal<ReadonlySet<string>>(new Set());
  const [open, setOpen] = useState<Open | null>(null);
  const [words, setWords] = useState("");
  const editor = can("editor", "admin");
  useEffect(() => {
    void listing.reload();
    return () => listing.stop();
  }, [listing]);
  useEvery(LOOK_EVERY_S, () => {
    const moving = listing.items.value?.some((each) => each.status === "PENDING" || each.status === "PROCESSING");
    if (moving && !listing.loading.value) void refresh(listing);
  });
  const shown = listing.items.value?.filter((each) => !leaving.value.has(each.faq_id) && holds(each, words)) ?? null;
  const close = () => setOpen(null);
  return (
    <Page
      title={t("faqs")}
      about={t("faqs_lead")}
      actions={
        editor && (
          <>
            <Export />
            <Button kind="quiet" icon="upload" onClick={() => setOpen({ kind: "import" })}>
              {t("import")}
            </Button>
            <Button kind="primary" icon="add" onClick={() => setOpen({ kind: "edit", faq: null })}>
              {t("new_faq")}
            </Button>
          </>
        )
      }
    >
      <Listed listing={listing} shown={shown} words={words} search={setWords} editor={editor} open={setOpen} />
      {open?.kind === "edit" && (
        <FaqDialog faq={open.faq} onClose={close} onSaved={(faq) => listing.change((all) => withFaq(all, faq))} />
      )}
      {open?.kind === "import" && <ImportDialog onClose={close} onImported={() => void listing.reload()} />}
      {open?.kind === "delete" && (
        <Dialog
          title={t("faq_delete_title")}
          onClose={close}
          actions={
            <>
              <Button onClick={close}>{t("cancel")}</Button>
              <Button
                kind="danger"
                icon="trash"
                onClick={() => {
                  close();
                  removeWithUndo(open.faq, listing, leaving);
                }}
              >
                {t("delete")}
              </Button>
            </>
          }
        >
          <p class={css.title}>{open.faq.question}</p>
          <p>{t("faq_delete_text")}</p>
        </Dialog>
      )}
    </Page>
  );
}

function Listed(props: {
  listing: Listing<Faq>;
  shown: readonly Faq[] | null;
  words: string;
  search: (words: string) => void;
  editor: boolean;
  open: (what: Open) => void;
}) {
  const { listing, shown, words, open } = props;
  const notice = listing.error.value ? (
    <ErrorNotice error={listing.error.value} retry={() => void listing.reload()} />
  ) : null;
  if (shown === null) return notice ?? <Skeleton lines={6} label={t("faqs_loading")} />;
  if (shown.length === 0 && !words && !listing.next.value) {
    return (
      notice ?? (
        <EmptyState
          icon="faq"
          title={t("faqs_none_title")}
          action={
            props.editor && (
              <>
                <Button onClick={() => open({ kind: "import" })}>{t("import")}</Button>
                <Button kind="primary" onClick={() => open({ kind: "edit", faq: null })}>
                  {t("new_faq")}
                </Button>
              </>
            )
          }
        >
          {t("faqs_none_text")}
        </EmptyState>
      )
    );
  }
  return (
    <>
      {notice}
      <SearchField label={t("faqs_search")} value={words} onInput={props.search} />
      <p class={css.soft} role="status">
        {shown.length > 0
          ? t("faqs_count", shown.length, listing.next.value !== "" || words !== "")
          : t("faqs_none_found", words)}
      </p>
      {shown.length > 0 && (
        <Panel as="ul" label={t("faqs")}>
          {shown.map((each) => (
            <Row key={each.faq_id} faq={each} editor={props.editor} open={open} />
          ))}
        </Panel>
      )}
      <More listing={listing} />
    </>
  );
}

function Row({ faq, editor, open }: { faq: Faq; editor: boolean; open: (what: Open) => void }) {
  return (
    <li class={css.row}>
      <div class={css.main}>
        <p class={css.title}>{faq.question}</p>
        <p class={css.snippet}>{faq.answer}</p>
        {faq.error && <p class={css.soft}>{faq.error.message}</p>}
      </div>
      <div class={css.side}>
        <span class={css.badges}>
          <StatusOf faq={faq} />
          {editor && (
            <>
              <IconButton
                size="s"
                icon="edit"
                label={t("edit_one", faq.question)}
                onClick={() => open({ kind: "edit", faq })}
              />
              <IconButton
                size="s"
                icon="trash"
                label={t("delete_one", faq.question)}
                onClick={() => open({ kind: "delete", faq })}
              />
            </>
          )}
        </span>
      </div>
    </li>
  );
}

function StatusOf({ faq }: { faq: Faq }) {
  if (faq.status === "READY") return <Badge tone="good">{t("faq_status_READY")}</Badge>;
  if (faq.status === "FAILED") return <Badge tone="bad">{t("faq_status_FAILED")}</Badge>;
  return <Badge tone="accent">{t("faq_status_other")}</Badge>;
}

function Export() {
  const [busy, setBusy] = useState(false);
  const run = async () => {
    setBusy(true);
    try {
      saveFile(await exportFaqs(), "faqs.csv");
    } catch (error) {
      toast(adviceOn(asProblem(error)));
    }
    setBusy(false);
  };
  return (
    <Button kind="quiet" icon="download" busy={busy} onClick={() => void run()}>
      {t("export")}
    </Button>
  );
}

function removeWithUndo(faq: Faq, listing: Listing<Faq>, leaving: { value: ReadonlySet<string> }): void {
  leaving.value = new Set([...leaving.value, faq.faq_id]);
  const show = () => {
    leaving.value = new Set([...leaving.value].filter((id) => id !== faq.faq_id));
  };
  const act = async () => {
    try {
      await deleteFaq(faq.faq_id);
      listing.change((all) => all.filter((each) => each.faq_id !== faq.faq_id));
    } catch (error) {
      const problem = asProblem(error);
      if (problem.status !== 404) toast(adviceOn(problem));
    }
    show();
  };
  toast(t("faq_deleted"), { undo: show, done: () => void act() });
}

/** Read the first page again without losing what was read after it. */
async function refresh(listing: Listing<Faq>): Promise<void> {
  try {
    const { items } = await listFaqs("", new AbortController().signal);
    const now = new Map(items.map((each) => [each.faq_id, each]));
    listing.change((all) => all.map((each) => now.get(each.faq_id) ?? each));
  } catch {
    // the next look tells
  }
}

function withFaq(all: readonly Faq[], faq: Faq): readonly Faq[] {
  const known = all.some((each) => each.faq_id === faq.faq_id);
  return known ? all.map((each) => (each.faq_id === faq.faq_id ? faq : each)) : [faq, ...all];
}

function holds(faq: Faq, words: string): boolean {
  const text = plain(`${faq.question} ${faq.answer} ${Object.values(faq.tags).flat().join(" ")}`);
  return plain(words)
    .split(/\s+/)
    .every((word) => text.includes(word));
}

function plain(text: string): string {
  return text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase().trim();
}
