import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Citation } from "../api/types.ts";
import { t } from "../i18n/viewer.ts";
import { IconButton } from "../ui/Button.tsx";
import type { Mark } from "./highlight.ts";
import { useMarks } from "./marks.ts";
import type { Content } from "./opened.ts";
import { type Pages, PdfPages } from "./PdfPages.tsx";
import css from "./PdfView.module.css";
import type { PdfFile } from "./pdf.ts";
import type { QuoteState } from "./QuoteCard.tsx";
import { SearchBar } from "./SearchBar.tsx";
import { useSearch } from "./search.ts";

const ZOOMS = [0.5, 0.67, 0.8, 1, 1.25, 1.5, 2, 3, 4] as const;

interface Props {
  citation: Citation | null;
  onState: (state: QuoteState) => void;
  file: PdfFile;
  content: Content;
  /** The page to begin at. */
  page: number;
}

/** A PDF: its tools and its pages, with the quote marked. */
export function PdfView({ citation, onState, file, content, page: first }: Props) {
  const { state, marks } = useMarks(file, content.version_id, citation);
  useEffect(() => onState(state), [state, onState]);
  const [zoom, setZoom] = useState(1);
  const [page, setPage] = useState(1);
  const [words, setWords] = useState<string | null>(null);
  const { hits, isDone, lacksText } = useSearch(file, words ?? "");
  const [from, setFrom] = useState(1);
  const [chosen, setChosen] = useState<number | null>(null);
  const nearest = hits.findIndex((each) => each.page >= from);
  const hit = chosen ?? (nearest >= 0 || !isDone ? nearest : 0);
  const pages = useRef<Pages>(null);
  useLayoutEffect(() => pages.current?.show(first, null), [first]);
  useEffect(() => showMark(pages.current, marks[0]), [marks]);
  const shownHit = hits[hit];
  useEffect(() => showMark(pages.current, shownHit), [shownHit]);

  const leafHit = (step: number) => setChosen(hits.length ? (hit + step + hits.length) % hits.length : null);
  const searchFor = (next: string | null) => {
    if (words === null || next === null) setFrom(page);
    setWords(next);
    setChosen(null);
  };
  const zoomBy = (step: number) => {
    const at = ZOOMS.findIndex((each) => each >= zoom);
    setZoom(ZOOMS[Math.min(Math.max(at + step, 0), ZOOMS.length - 1)] ?? 1);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "f" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      searchFor(words ?? "");
    } else if (event.target instanceof HTMLInputElement) {
      return;
    } else if (event.key === "+" || event.key === "=") {
      zoomBy(1);
    } else if (event.key === "-") {
      zoomBy(-1);
    }
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: keys that its buttons have, too
    <div class={css.view} onKeyDown={onKeyDown}>
      <div class={css.tools} role="toolbar" aria-label={t("tools")}>
        <PageField page={page} count={file.pageCount} onPage={(next) => pages.current?.show(next, null)} />
        <span class={css.group}>
          <IconButton size="s" icon="zoomOut" label={t("smaller")} onClick={() => zoomBy(-1)} />
          <button
            type="button"
            class={css.zoom}
            onClick={() => setZoom(1)}
            title={t("fit")}
            aria-label={t("zoom", Math.round(zoom * 100))}
          >
            {Math.round(zoom * 100)} %
          </button>
          <IconButton size="s" icon="zoomIn" label={t("larger")} onClick={() => zoomBy(1)} />
        </span>
        <IconButton
          size="s"
          icon="search"
          label={t("search")}
          pressed={words !== null}
          onClick={() => searchFor(words === null ? "" : null)}
        />
      </div>
      {words !== null && (
        <SearchBar
          words={words}
          count={hits.length}
          index={hit}
          isDone={isDone}
          lacksText={lacksText}
          onWords={searchFor}
          onLeaf={leafHit}
          onClose={() => searchFor(null)}
        />
      )}
      <PdfPages handle={pages} file={file} zoom={zoom} marks={marks} hits={hits} hit={shownHit} onPage={setPage} />
    </div>
  );
}

function showMark(pages: Pages | null, mark: Mark | undefined): void {
  const box = mark?.boxes[0];
  if (pages && mark && box) pages.show(mark.page, box);
}

/** The page that is shown, and a way to another one. */
function PageField({ page, count, onPage }: { page: number; count: number; onPage: (page: number) => void }) {
  const go = (wanted: number) => onPage(Math.min(Math.max(wanted, 1), count));
  const onChange = (event: Event) => {
    const field = event.target as HTMLInputElement;
    go(Math.round(Number(field.value)) || page);
    field.value = String(page); // until the list has got there
  };
  return (
    <span class={css.group}>
      <IconButton size="s" icon="arrowUp" label={t("previous_page")} onClick={() => go(page - 1)} />
      <span class={css.page}>
        <input
          type="text"
          inputMode="numeric"
          aria-label={t("page_number")}
          class={css.number}
          value={page}
          onChange={onChange}
        />
        <span>{t("of_pages", count)}</span>
      </span>
      <IconButton size="s" icon="arrowDown" label={t("next_page")} onClick={() => go(page + 1)} />
    </span>
  );
}
