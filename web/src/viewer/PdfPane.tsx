import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { Citation } from "../api/types.ts";
import { t } from "../i18n/viewer.ts";
import { Button, IconButton } from "../ui/Button.tsx";
import { ErrorNotice } from "../ui/ErrorNotice.tsx";
import { Skeleton } from "../ui/Skeleton.tsx";
import { type Opened, openInTab, useOpened } from "./opened.ts";
import css from "./PdfPane.module.css";
import { PdfView } from "./PdfView.tsx";
import { closeSource, expanded, openSource, type SourceTarget, source, toggleExpanded } from "./pane.ts";
import { QuoteCard, type QuoteState } from "./QuoteCard.tsx";
import { TextView } from "./TextView.tsx";

/** The document beside the answer, opened where it is quoted. */
export default function PdfPane() {
  const target = source.value;
  return target && <Pane target={target} />;
}

function Pane({ target }: { target: SourceTarget }) {
  const citation = target.citations[target.index] ?? null;
  const document_id = citation?.document_id ?? target.document_id;
  const quoted_version = citation?.version_id ?? target.version_id ?? "";
  const [present, setPresent] = useState("");
  const version_id = present === document_id ? "" : quoted_version;
  const opened = useOpened(document_id, version_id);
  const title = citation?.title ?? target.title;
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus({ preventScroll: true }), []);
  const pane = useRef<HTMLElement>(null);
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const at = document.activeElement;
      const isHere = at === document.body || pane.current?.contains(at);
      if (event.key === "Escape" && !event.defaultPrevented && isHere) closeSource();
    };
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  }, []);
  const [shown, setShown] = useState<{ of: Citation | null; state: QuoteState }>({ of: null, state: "none" });
  const onState = useCallback((state: QuoteState) => setShown({ of: citation, state }), [citation]);
  return (
    <section ref={pane} class={css.pane} aria-label={t("pane")}>
      <header class={css.head}>
        <div class={css.names}>
          <h2 ref={heading} tabIndex={-1} class={css.title} title={title}>
            <bdi>{title}</bdi>
          </h2>
          <p class={css.file}>
            <bdi>{fileName(opened, citation)}</bdi>
          </p>
        </div>
        {opened.state === "pdf" && (
          <Button
            kind="quiet"
            size="s"
            class={css.open}
            icon="external"
            title={t("open_file")}
            onClick={() => void openInTab(document_id, opened.content.version_id, citation?.page_start ?? 1)}
          >
            {t("open")}
          </Button>
        )}
        <IconButton
          class={css.expand}
          icon={expanded.value ? "collapse" : "expand"}
          label={expanded.value ? t("narrow") : t("widen")}
          onClick={toggleExpanded}
        />
        <IconButton icon="close" label={t("close")} onClick={closeSource} />
      </header>
      <QuoteCard
        citation={citation}
        state={shown.of === citation ? shown.state : "looking"}
        count={target.citations.length}
        index={target.index}
        onLeaf={(index) => openSource({ ...target, index })}
      />
      <Body {...{ target, citation, opened, document_id, onState }} />
      <Versions opened={opened} version_id={version_id} onPresent={() => setPresent(document_id)} />
    </section>
  );
}

interface BodyProps {
  target: SourceTarget;
  citation: Citation | null;
  opened: Opened;
  document_id: string;
  onState: (state: QuoteState) => void;
}

function Body({ target, citation, opened, document_id, onState }: BodyProps) {
  const shown = { citation, onState };
  const page = citation?.page_start ?? target.page ?? 1;
  switch (opened.state) {
    case "loading":
      return (
        <div class={css.waiting}>
          <Skeleton lines={9} label={t("opening")} />
        </div>
      );
    case "pdf":
      return <PdfView key={opened.content.url} {...shown} file={opened.file} content={opened.content} page={page} />;
    case "text":
      return <TextView {...shown} document_id={document_id} page={1} />;
    case "failed":
      return (
        <TextView {...shown} document_id={document_id} page={page}>
          <ErrorNotice error={opened.error} title={t("cannot_open")} retry={opened.again} />
        </TextView>
      );
  }
}

/** Says that what is shown is not the document's present version, and leads to that one. */
function Versions({ opened, version_id, onPresent }: { opened: Opened; version_id: string; onPresent: () => void }) {
  const isOlder = opened.state !== "loading" && opened.state !== "failed" && opened.content.changed_since;
  if (!isOlder && !(opened.state === "failed" && version_id)) return null;
  return (
    <p class={css.versions}>
      {isOlder ? t("older_version") : t("other_version")}{" "}
      <button type="button" class={css.present} onClick={onPresent}>
        {t("present_version")}
      </button>
    </p>
  );
}

function fileName(opened: Opened, citation: Citation | null): string {
  return "content" in opened ? opened.content.file_name : (citation?.file_name ?? "");
}
