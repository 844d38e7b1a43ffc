import assert from "node:assert/strict";
import { test } from "node:test";
import { placedRuns } from "./geometry.ts";
import { agreementOf, type Mark, marksOf, type PageLayer, type Quoted, type Sources } from "./highlight.ts";

/** A page of 1000 by 100 points; each line is 10 points high, each character 10 points wide. */
function layer(page: number, ...lines: string[]): PageLayer {
  const items = lines.map((str, line) => ({
    str,
    dir: "ltr",
    transform: [10, 0, 0, 10, 0, 92 - 10 * line],
    width: 10 * str.length,
    height: 10,
    fontName: "f",
    hasEOL: true,
  }));
  const runs = placedRuns(items, {}, [1, 0, 0, -1, 0, 100], (text) => text.length);
  return { page, width: 1000, height: 100, runs };
}

/** The rectangle of characters of a line, in the units of a page of 2000 by 200. */
function rect(page: number, line: number, start: number, end: number) {
  return { page, x0: 20 * start, y0: 20 * line, x1: 20 * end, y1: 20 * (line + 1) };
}

function quoted(quote: string, rest: Partial<Quoted> = {}): Quoted {
  const page_sizes = [1, 2].map((page) => ({ page, width: 2000, height: 200 }));
  return { quote, page_start: 1, page_end: 1, rects: [], page_sizes, corrected: false, ...rest };
}

function sources(layers: PageLayer[], rest: Partial<Sources> = {}): Sources {
  return {
    layer: async (page) => layers.find((each) => each.page === page) ?? null,
    surroundings: async () => null,
    isQuotedVersion: true,
    ...rest,
  };
}

/** Marks in points of the pages that `layer` makes. */
function inPoints(marks: Mark[]): number[][] {
  return marks.flatMap(({ page, boxes }) =>
    boxes.map(({ x0, y0, x1, y1 }) => [page, x0 * 1000, y0 * 100, x1 * 1000, y1 * 100].map((edge) => Math.round(edge))),
  );
}

const TEXT = layer(1, "Costs are 12 million.", "Revenue is 12 million.");

test("stored rectangles are taken where the quote stands under them", async () => {
  const citation = quoted("12 million.", { rects: [rect(1, 1, 11, 22)] });
  assert.deepEqual(inPoints(await marksOf(citation, sources([TEXT]))), [[1, 110, 10, 220, 20]]);
});

test("rectangles of something else are not shown: the quote is looked for", async () => {
  const citation = quoted("Costs are 12 million.", { rects: [rect(1, 1, 0, 22)] });
  assert.deepEqual(inPoints(await marksOf(citation, sources([TEXT]))), [[1, 0, 0, 210, 10]]);
});

test("nothing is marked if the quote stands nowhere, or an editor has corrected it", async () => {
  assert.deepEqual(await marksOf(quoted("Costs are 13 million."), sources([TEXT])), []);
  assert.deepEqual(await marksOf(quoted("Costs are 12 million.", { corrected: true }), sources([TEXT])), []);
  assert.deepEqual(await marksOf(quoted("Costs are 12 million.", { page_start: 9, page_end: 9 }), sources([TEXT])), []);
});

test("of two places the surroundings decide, and without them neither is marked", async () => {
  const around = { before: "Costs are 12 million. Revenue is", after: "" };
  assert.deepEqual(await marksOf(quoted("12 million."), sources([TEXT])), []);
  assert.deepEqual(
    inPoints(await marksOf(quoted("12 million."), sources([TEXT], { surroundings: async () => around }))),
    [[1, 110, 10, 220, 20]],
  );
});

test("of two places the one under a rectangle that is too large is marked", async () => {
  const citation = quoted("12 million.", { rects: [rect(1, 1, 0, 22)] });
  assert.deepEqual(inPoints(await marksOf(citation, sources([TEXT]))), [[1, 110, 10, 220, 20]]);
});

test("a quote over two pages is marked on both", async () => {
  const pages = [layer(1, "A sentence that begins here"), layer(2, "and ends on the next page.")];
  const quote = "A sentence that begins here and ends on the next page.";
  const rects = [rect(1, 0, 0, 27), rect(2, 0, 0, 26)];
  const expected = [
    [1, 0, 0, 270, 10],
    [2, 0, 0, 260, 10],
  ];
  assert.deepEqual(inPoints(await marksOf(quoted(quote, { page_end: 2, rects }), sources(pages))), expected);
  assert.deepEqual(inPoints(await marksOf(quoted(quote, { page_end: 2 }), sources(pages))), expected);
});

test("where a page's text cannot be read, the rectangles of the quoted version are trusted, and of no other", async () => {
  const citation = quoted("Costs are 12 million.", { rects: [rect(1, 0, 0, 21)] });
  const picture = layer(1);
  assert.deepEqual(inPoints(await marksOf(citation, sources([picture]))), [[1, 0, 0, 210, 10]]);
  assert.deepEqual(await marksOf(citation, sources([picture], { isQuotedVersion: false })), []);
});

test("rectangles of a page of another shape are not taken", async () => {
  const rects = [rect(1, 0, 0, 21)];
  const page_sizes = [{ page: 1, width: 200, height: 2000 }];
  assert.deepEqual(await marksOf(quoted("Elsewhere", { rects, page_sizes }), sources([layer(1)])), []);
});

test("rectangles that are cut off are replaced by the place in the text, if it can be found", async () => {
  const long = layer(1, "Restrictions and limitations of the warranty");
  const rects = [rect(1, 0, 0, 40)];
  const citation = quoted("Restrictions and limitations of the warranty", { rects });
  assert.deepEqual(inPoints(await marksOf(citation, sources([long]))), [[1, 0, 0, 440, 10]]);
  const unlike = quoted("Restrictions and limitations of the w■rr■nty", { rects });
  assert.deepEqual(inPoints(await marksOf(unlike, sources([long]))), [[1, 0, 0, 400, 10]]);
});

test("texts are compared by their characters, whatever their order", () => {
  assert.deepEqual(agreementOf("b a c", "abc"), { share: 1, differing: 0 });
  assert.deepEqual(agreementOf("2019", "2018"), { share: 0.75, differing: 2 });
  assert.deepEqual(agreementOf("", ""), { share: 0, differing: 0 });
});
