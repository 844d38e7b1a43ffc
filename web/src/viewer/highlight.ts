/**
 * Decides what is marked for a citation. The rectangles that ingest stored are taken if the text under them is the
 * quote; else the quote is looked for in the text of its pages. What is not certain is not marked.
 */

import { placesOf, type Stretch, type Surroundings, squeeze } from "./find.ts";
import { type Box, boxesOf, type PlacedRun, textUnder } from "./geometry.ts";

/** What of a citation says where its quote stands (`Citation` of the API has it). */
export interface Quoted {
  quote: string;
  page_start: number;
  page_end: number;
  rects: readonly { page: number; x0: number; y0: number; x1: number; y1: number }[];
  page_sizes: readonly { page: number; width: number; height: number }[];
  corrected: boolean;
}

/** The text of a page as the file draws it; `width` and `height` in points, as it is shown. */
export interface PageLayer {
  page: number;
  width: number;
  height: number;
  runs: readonly PlacedRun[];
}

/** The rectangles to be marked on a page, in shares (0 … 1) of its width and height. */
export interface Mark {
  page: number;
  boxes: readonly Box[];
}

export interface Sources {
  /** The text of a page; null if the file has no such page. */
  layer: (page: number) => Promise<PageLayer | null>;
  /** The stored text around the quote; null if it cannot be had. */
  surroundings: () => Promise<Surroundings | null>;
  /** Whether the file is the version that was quoted. */
  isQuotedVersion: boolean;
}

/** The share of characters that the quote and the text under its rectangles must have in common. */
const AGREEMENT = 0.9;
/** Characters that may be read wrongly at the edges of a quote: a viewer knows the widths of runs, not of characters. */
const LEEWAY = 2;
/** A quote over more pages than this is not looked for. */
const MOST_PAGES = 4;
/** Squeezed characters of a page below which it may be a picture, with a text that cannot be read. */
const READABLE = 20;

/** Returns the marks of a citation, in the order of the quote; none if it is not certain where it stands. */
export async function marksOf(citation: Quoted, sources: Sources): Promise<Mark[]> {
  if (citation.corrected || squeeze(citation.quote) === "") return [];
  const stored = await storedMarks(citation, sources);
  if (stored?.isExact) return stored.marks;
  const found = await foundMarks(citation, sources);
  return found.length > 0 ? found : (stored?.marks ?? []);
}

/** The marks of stored rectangles; `isExact` says that the text under them is the quote, but for its edges. */
interface Stored {
  marks: Mark[];
  isExact: boolean;
}

/** Returns the marks of the stored rectangles; null if there are none, or something else stands there. */
async function storedMarks(citation: Quoted, { layer, isQuotedVersion }: Sources): Promise<Stored | null> {
  const marks: Mark[] = [];
  let text = "";
  let isReadable = false;
  for (const number of new Set(citation.rects.map((rect) => rect.page))) {
    const size = citation.page_sizes.find((each) => each.page === number);
    const page = await layer(number);
    if (!size || !page || !isSameShape(size, page)) return null;
    const rects = citation.rects.filter((rect) => rect.page === number);
    const boxes = rects.map((rect) => scaled(rect, 1 / size.width, 1 / size.height));
    marks.push({ page: number, boxes });
    text += textUnder(
      boxes.map((box) => scaled(box, page.width, page.height)),
      page.runs,
    );
    isReadable ||= squeeze(page.runs.map((run) => run.text).join("")).length >= READABLE;
  }
  if (marks.length === 0) return null;
  const agreement = agreementOf(citation.quote, text);
  const isTrusted = agreement.share >= AGREEMENT || (!isReadable && isQuotedVersion);
  return isTrusted ? { marks, isExact: agreement.differing <= LEEWAY } : null;
}

function isSameShape(one: { width: number; height: number }, other: { width: number; height: number }): boolean {
  return Math.abs((one.width * other.height) / (one.height * other.width) - 1) < 0.02;
}

function scaled(box: Box, x: number, y: number): Box {
  return { x0: box.x0 * x, y0: box.y0 * y, x1: box.x1 * x, y1: box.y1 * y };
}

/** How many characters two texts have in common, in whatever order a file draws them: as a share, and those left over. */
export function agreementOf(quote: string, text: string): { share: number; differing: number } {
  const [one, other] = [squeeze(quote), squeeze(text)];
  const counts = new Map<string, number>();
  for (const character of one) counts.set(character, (counts.get(character) ?? 0) + 1);
  let shared = 0;
  for (const character of other) {
    const left = counts.get(character) ?? 0;
    if (left > 0) shared++;
    counts.set(character, left - 1);
  }
  const all = one.length + other.length;
  return { share: all ? (2 * shared) / all : 0, differing: all - 2 * shared };
}

/** Returns the marks of the one place in the text of its pages where the quote stands; none if there are several. */
async function foundMarks(citation: Quoted, sources: Sources): Promise<Mark[]> {
  if (citation.page_end - citation.page_start >= MOST_PAGES) return [];
  const layers: PageLayer[] = [];
  for (let number = citation.page_start; number <= citation.page_end; number++) {
    const page = await sources.layer(number);
    if (page) layers.push(page);
  }
  const place = await certainPlace(citation, layers, sources);
  return layers.flatMap((page) => {
    const boxes = boxesOf(
      page.runs,
      place.filter((stretch) => stretch.page === page.page),
    );
    return boxes.length
      ? [{ page: page.page, boxes: boxes.map((box) => scaled(box, 1 / page.width, 1 / page.height)) }]
      : [];
  });
}

async function certainPlace(citation: Quoted, layers: readonly PageLayer[], sources: Sources): Promise<Stretch[]> {
  let places = placesOf(citation.quote, layers);
  if (places.length > 1 && citation.rects.length > 0) {
    places = places.filter((place) => layers.some((page) => isUnderRects(citation, page, place)));
  } else if (places.length > 1) {
    const around = await sources.surroundings();
    places = around ? placesOf(citation.quote, layers, around) : [];
  }
  return places.length === 1 ? (places[0] ?? []) : [];
}

/** Returns whether a place on a page lies under the stored rectangles, at least with the middle of its first box. */
function isUnderRects(citation: Quoted, page: PageLayer, place: readonly Stretch[]): boolean {
  const size = citation.page_sizes.find((each) => each.page === page.page);
  const [first] = boxesOf(
    page.runs,
    place.filter((stretch) => stretch.page === page.page),
  );
  if (!size || !first) return false;
  const x = ((first.x0 + first.x1) / 2) * (size.width / page.width);
  const y = ((first.y0 + first.y1) / 2) * (size.height / page.height);
  return citation.rects.some(
    (rect) => rect.page === page.page && rect.x0 <= x && x <= rect.x1 && rect.y0 <= y && y <= rect.y1,
  );
}
