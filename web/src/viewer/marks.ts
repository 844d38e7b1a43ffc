import { useEffect, useState } from "preact/hooks";
import type { Citation } from "../api/types.ts";
import { type Mark, marksOf } from "./highlight.ts";
import type { PdfFile } from "./pdf.ts";
import type { QuoteState } from "./QuoteCard.tsx";
import { surroundingsOf } from "./stored.ts";

/** What is marked for a citation. */
export interface Marked {
  state: QuoteState;
  marks: readonly Mark[];
}

const NONE: Marked = { state: "none", marks: [] };
const UNSURE: Marked = { state: "unsure", marks: [] };

/** Finds a citation's quote in an opened PDF. */
export function useMarks(file: PdfFile, version_id: string, citation: Citation | null): Marked {
  const [found, setFound] = useState<{ of: Citation | null; marked: Marked }>({ of: null, marked: NONE });
  useEffect(() => {
    if (!citation) return;
    let isLeft = false;
    const show = (marked: Marked) => {
      if (!isLeft) setFound({ of: citation, marked });
    };
    const sources = {
      layer: (page: number) => file.layer(page),
      surroundings: () => surroundingsOf(citation),
      isQuotedVersion: citation.version_id !== "" && citation.version_id === version_id,
    };
    marksOf(citation, sources).then(
      (marks) => show(marks.length ? { state: "marked", marks } : UNSURE),
      () => show(UNSURE),
    );
    return () => {
      isLeft = true;
    };
  }, [file, version_id, citation]);
  if (!citation) return NONE;
  return found.of === citation ? found.marked : { state: "looking", marks: [] };
}
