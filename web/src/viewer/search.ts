import { useEffect, useState } from "preact/hooks";
import { occurrencesOf } from "./find.ts";
import { boxesOf } from "./geometry.ts";
import type { Mark } from "./highlight.ts";
import type { PdfFile } from "./pdf.ts";

/**
 * Words that were searched for in a PDF, in the order of its pages. `isDone` says that all pages were read, `hasPictures`
 * that some have no text.
 */
export interface Hits {
  hits: readonly Mark[];
  isDone: boolean;
  hasPictures: boolean;
}

const MOST_HITS = 1_000;
const PAUSE_MS = 200;
const SHORTEST = 2;

/** Searches a PDF for words, whatever their case, marks and line ends; hits come page by page. */
export function useSearch(file: PdfFile, words: string): Hits {
  const [found, setFound] = useState<Hits>({ hits: [], isDone: true, hasPictures: false });
  useEffect(() => {
    setFound({ hits: [], isDone: words.trim().length < SHORTEST, hasPictures: false });
    if (words.trim().length < SHORTEST) return;
    let isLeft = false;
    const search = async () => {
      const hits: Mark[] = [];
      let hasPictures = false;
      for (let page = 1; page <= file.pageCount && hits.length < MOST_HITS; page++) {
        const found = await hitsOn(file, page, words).catch(() => null);
        if (isLeft) return;
        hits.push(...(found ?? []));
        hasPictures ||= found === null;
        if (found?.length) setFound({ hits: [...hits], isDone: false, hasPictures });
      }
      setFound({ hits, isDone: true, hasPictures });
    };
    const timer = setTimeout(() => void search(), PAUSE_MS);
    return () => {
      isLeft = true;
      clearTimeout(timer);
    };
  }, [file, words]);
  return found;
}

/** The places on a page, or null if it has no text. */
async function hitsOn(file: PdfFile, number: number, words: string): Promise<Mark[] | null> {
  const page = await file.layer(number);
  if (!page?.runs.length) return null;
  return occurrencesOf(words, page).map((stretches) => ({
    page: number,
    boxes: boxesOf(page.runs, stretches).map(({ x0, y0, x1, y1 }) => ({
      x0: x0 / page.width,
      y0: y0 / page.height,
      x1: x1 / page.width,
      y1: y1 / page.height,
    })),
  }));
}
