import { useEffect, useState } from "preact/hooks";
import { occurrencesOf } from "./find.ts";
import { boxesOf } from "./geometry.ts";
import type { Mark, PageLayer } from "./highlight.ts";
import type { PdfFile } from "./pdf.ts";

/**
 * Words that were searched for in a PDF, in the order of its pages. `isDone` says that all pages were read, `lacksText`
 * that some have no text: pictures, or nothing at all.
 */
export interface Hits {
  hits: readonly Mark[];
  isDone: boolean;
  lacksText: boolean;
}

/** What a search needs of a `PdfFile`. */
type Searched = Pick<PdfFile, "pageCount" | "layer">;

const MOST_HITS = 1_000;
const PAUSE_MS = 200;
const SHORTEST = 2;

/** Searches a PDF for words, whatever their case, marks and line ends; hits come page by page. */
export function useSearch(file: PdfFile, words: string): Hits {
  const [found, setFound] = useState<Hits>({ hits: [], isDone: true, lacksText: false });
  useEffect(() => {
    setFound({ hits: [], isDone: words.trim().length < SHORTEST, lacksText: false });
    if (words.trim().length < SHORTEST) return;
    let isLeft = false;
    const search = async () => {
      let shown = 0;
      for await (const soFar of hitsIn(file, words)) {
        if (isLeft) return;
        if (soFar.isDone || soFar.hits.length > shown) setFound(soFar);
        shown = soFar.hits.length;
      }
    };
    const timer = setTimeout(() => void search(), PAUSE_MS);
    return () => {
      isLeft = true;
      clearTimeout(timer);
    };
  }, [file, words]);
  return found;
}

/** What is found, after each page. One that cannot be read counts for nothing. */
export async function* hitsIn(file: Searched, words: string): AsyncGenerator<Hits> {
  const hits: Mark[] = [];
  let lacksText = false;
  for (let page = 1; page <= file.pageCount && hits.length < MOST_HITS; page++) {
    const layer = await file.layer(page).catch(() => null);
    if (layer) hits.push(...hitsOn(layer, page, words));
    lacksText ||= layer?.runs.length === 0;
    yield { hits: [...hits], isDone: false, lacksText };
  }
  yield { hits, isDone: true, lacksText };
}

function hitsOn(layer: PageLayer, page: number, words: string): Mark[] {
  const { runs, width, height } = layer;
  return occurrencesOf(words, layer).map((stretches) => ({
    page,
    boxes: boxesOf(runs, stretches).map(({ x0, y0, x1, y1 }) => ({
      x0: x0 / width,
      y0: y0 / height,
      x1: x1 / width,
      y1: y1 / height,
    })),
  }));
}
