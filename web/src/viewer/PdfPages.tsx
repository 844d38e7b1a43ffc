import type { RefObject } from "preact";
import { useEffect, useImperativeHandle, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { t } from "../i18n/viewer.ts";
import type { Box } from "./geometry.ts";
import type { Mark } from "./highlight.ts";
import { PdfPage } from "./PdfPage.tsx";
import css from "./PdfPages.module.css";
import type { PageSize, PdfFile } from "./pdf.ts";

/** The most CSS pixels that a page is wide before somebody zooms in. */
const MOST_WIDTH = 920;
/** What is left free above a mark, as a share of the visible height. */
const ABOVE = 0.28;
const A4: PageSize = { width: 595, height: 842 };

/** Moves the list of pages. */
export interface Pages {
  /** Shows a page from its top, or a box on it (in shares of the page). */
  show: (page: number, box: Box | null) => void;
}

interface Props {
  handle: RefObject<Pages | null>;
  file: PdfFile;
  zoom: number;
  marks: readonly Mark[];
  hits: readonly Mark[];
  hit: Mark | undefined;
  onPage: (page: number) => void;
}

/** All pages of a PDF, one below the other; those near what is visible are drawn. */
export function PdfPages({ handle, file, zoom, marks, hits, hit, onPage }: Props) {
  const scroller = useRef<HTMLDivElement>(null);
  const available = useWidth(scroller);
  const { near, observe } = useNear(scroller, file);
  const sizes = useSizes(file, near);
  const pages = useMemo(() => Array.from({ length: file.pageCount }, (_, at) => at + 1), [file]);
  const wanted = useRef<{ page: number; box: Box | null } | null>(null);
  const anchor = useRef({ page: 1, share: 0 });

  const apply = () => {
    const place = wanted.current;
    const list = scroller.current;
    const element = place && list?.querySelector<HTMLElement>(`[data-page="${place.page}"]`);
    if (!place || !list || !element || available === 0) return;
    const { box } = place;
    list.scrollTop = box
      ? element.offsetTop + box.y0 * element.offsetHeight - ABOVE * list.clientHeight
      : element.offsetTop - 12;
    const middle = box ? element.offsetLeft + ((box.x0 + box.x1) / 2) * element.offsetWidth : 0;
    list.scrollLeft = middle - list.clientWidth / 2;
  };
  useImperativeHandle(handle, () => ({
    show: (page, box) => {
      wanted.current = { page, box };
      apply();
      onPage(page);
    },
  }));
  // Sizes that become known, and another width, move what one looks at: it is put back.
  useLayoutEffect(() => {
    const list = scroller.current;
    if (wanted.current) return apply();
    const element = list?.querySelector<HTMLElement>(`[data-page="${anchor.current.page}"]`);
    if (list && element) list.scrollTop = element.offsetTop + anchor.current.share * element.offsetHeight;
  }, [sizes, available, zoom]);

  const onScroll = () => {
    const list = scroller.current;
    if (!list) return;
    anchor.current = placeAt(list, list.scrollTop);
    // The last pages cannot be moved to the top: what was asked for counts until somebody scrolls.
    onPage(wanted.current?.page ?? placeAt(list, list.scrollTop + ABOVE * list.clientHeight).page);
  };
  const letGo = () => {
    wanted.current = null;
  };
  return (
    <section
      ref={scroller}
      class={css.scroller}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reached by keyboard
      tabIndex={0}
      aria-label={t("document")}
      onScroll={onScroll}
      onWheel={letGo}
      onPointerDown={letGo}
      onKeyDown={letGo}
    >
      {available > 0 &&
        pages.map((page) => {
          const size = sizes.get(page) ?? sizes.get(0) ?? A4;
          const width = Math.floor(Math.min(available, MOST_WIDTH) * zoom);
          return (
            <PdfPage
              key={page}
              file={file}
              number={page}
              width={width}
              scale={width / size.width}
              height={Math.floor((width * size.height) / size.width)}
              isNear={near.has(page)}
              observe={observe}
              marks={boxesOn(marks, page)}
              hits={near.has(page) ? boxesOn(hits, page) : []}
              hit={hit?.page === page ? hit.boxes : []}
            />
          );
        })}
    </section>
  );
}

function boxesOn(marks: readonly Mark[], page: number): readonly Box[] {
  return marks.flatMap((mark) => (mark.page === page ? mark.boxes : []));
}

/** The page at a height of the list, and how far down it that is. */
function placeAt(list: HTMLElement, top: number): { page: number; share: number } {
  const pages = list.children;
  let [low, high] = [0, pages.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    const element = pages[middle];
    if (element instanceof HTMLElement && element.offsetTop <= top) low = middle;
    else high = middle - 1;
  }
  const element = pages[low];
  const share = element instanceof HTMLElement ? (top - element.offsetTop) / Math.max(1, element.offsetHeight) : 0;
  return { page: low + 1, share };
}

/** The width that pages may have, in CSS pixels; 0 before it is known. */
function useWidth(scroller: RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const list = scroller.current;
    if (!list) return;
    const measure = () => {
      const style = getComputedStyle(list);
      setWidth(list.clientWidth - Number.parseFloat(style.paddingLeft) - Number.parseFloat(style.paddingRight));
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(list);
    return () => observer.disconnect();
  }, [scroller]);
  return width;
}

/** The pages that are visible, or nearly so. */
function useNear(scroller: RefObject<HTMLElement | null>, file: PdfFile) {
  const [near, setNear] = useState<ReadonlySet<number>>(new Set());
  const observer = useRef<IntersectionObserver | null>(null);
  const waiting = useRef<Element[]>([]);
  useEffect(() => {
    const watch = new IntersectionObserver(
      (entries) =>
        setNear((before) => {
          const next = new Set(before);
          for (const { target, isIntersecting } of entries) {
            next[isIntersecting ? "add" : "delete"](Number((target as HTMLElement).dataset.page));
          }
          return next;
        }),
      { root: scroller.current, rootMargin: "60% 0px" },
    );
    observer.current = watch;
    for (const element of waiting.current.splice(0)) watch.observe(element);
    return () => watch.disconnect();
  }, [scroller, file]);
  const observe = useMemo(
    () => (element: Element) => {
      if (observer.current) observer.current.observe(element);
      else waiting.current.push(element);
    },
    [],
  );
  return { near, observe };
}

/** The sizes of the pages that came near; under 0 that of the first page, which the others are taken to have. */
function useSizes(file: PdfFile, near: ReadonlySet<number>): ReadonlyMap<number, PageSize> {
  const [sizes, setSizes] = useState<ReadonlyMap<number, PageSize>>(new Map());
  useEffect(() => {
    let isLeft = false;
    const missing = sizes.size === 0 ? [1] : [...near].filter((page) => !sizes.has(page));
    if (missing.length === 0) return;
    const known = missing.map(async (page) => [page, await file.size(page).catch(() => A4)] as const);
    void Promise.all(known).then((found) => {
      if (isLeft) return;
      const first = found.find(([page]) => page === 1);
      setSizes(
        (before) => new Map([...(first && !before.has(0) ? [[0, first[1]] as const] : []), ...before, ...found]),
      );
    });
    return () => {
      isLeft = true;
    };
  }, [file, near, sizes]);
  return sizes;
}
