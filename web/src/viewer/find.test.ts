import assert from "node:assert/strict";
import { test } from "node:test";
import { type PageText, placesOf, type Surroundings } from "./find.ts";

/** A page of lines; "/" in a line separates its runs. */
function page(number: number, ...lines: string[]): PageText {
  const runs = lines.flatMap((line) => line.split("/").map((text, at, all) => ({ text, ends: at === all.length - 1 })));
  return { page: number, runs };
}

/** The texts that are found, one for each place; a quote in several stretches has them joined by "/". */
function found(quote: string, pages: PageText[], around?: Surroundings): string[] {
  return placesOf(quote, pages, around).map((place) =>
    place
      .map(({ page, run, start, end }) => pages.find((each) => each.page === page)?.runs[run]?.text.slice(start, end))
      .join("/"),
  );
}

test("a quote is found over line ends, whatever the white space", () => {
  const text = page(1, "The boilers are", "descaled  every 12", "months. Then rinse.");
  assert.deepEqual(found("The boilers are descaled every 12 months.", [text]), [
    "The boilers are/descaled  every 12/months.",
  ]);
});

test("a word that a line end hyphenates is one word", () => {
  assert.deepEqual(found("The maintenance is due.", [page(1, "The mainte-", "nance is due.")]), [
    "The mainte-/nance is due.",
  ]);
  assert.deepEqual(found("The maintenance is due.", [page(1, "The mainte\u00ad", "nance is due.")]), [
    "The mainte\u00ad/nance is due.",
  ]);
});

test("ligatures, accents and typography do not matter", () => {
  assert.deepEqual(found('The first "efficient" café', [page(1, "The ﬁrst “eﬃcient” cafe\u0301")]), [
    "The ﬁrst “eﬃcient” cafe",
  ]);
});

test("leaders and borders of cells do not matter", () => {
  assert.deepEqual(found("1.2 Descaling … 14", [page(1, "1.2 Descaling . . . . . . . . . . 14")]), [
    "1.2 Descaling . . . . . . . . . . 14",
  ]);
  assert.deepEqual(found("Boiler | 12 months", [page(1, "Boiler/12 months")]), ["Boiler/12 months"]);
});

test("a short quote is not found within a word or a number", () => {
  assert.deepEqual(found("5", [page(1, "15 and 1500")]), []);
  assert.deepEqual(found("rent", [page(1, "the current year, rent/als")]), []);
  assert.deepEqual(found("rent", [page(1, "the current year, rent", "als")]), ["rent"]);
});

test("a number with a hyphen or a point before other digits stands by itself", () => {
  assert.deepEqual(found("3.14", [page(1, "Section 3.14 says")]), ["3.14"]);
});

test("a quote over a page break is found without the footer and header in between", () => {
  const pages = [
    page(3, "The first part of a sentence that", "goes on after the page", "Annual report 2025", "3"),
    page(4, "Annual report 2025", "break and ends there with a stop.", "The next one."),
  ];
  assert.deepEqual(
    found("The first part of a sentence that goes on after the page break and ends there with a stop.", pages),
    ["The first part of a sentence that/goes on after the page/break and ends there with a stop."],
  );
});

test("columns whose lines the file draws by turns are joined", () => {
  const text = page(
    1,
    "The left column begins with this",
    "Another subject altogether on the right",
    "and goes on to the end of its words.",
    "which ends here as well.",
  );
  assert.deepEqual(found("The left column begins with this and goes on to the end of its words.", [text]), [
    "The left column begins with this/and goes on to the end of its words.",
  ]);
});

test("of equal places the surroundings tell which, else all are returned", () => {
  const text = page(1, "Revenue: 12 million", "Costs: 12 million", "Profit: 0");
  assert.equal(found("12 million", [text]).length, 2);
  const places = placesOf("12 million", [text], { before: "Costs: ", after: " Profit: 0" });
  assert.deepEqual(places, [[{ page: 1, run: 1, start: 7, end: 17 }]]);
});

test("words that are not there, or only in part, are not found", () => {
  const text = page(1, "The boilers are descaled every 12 months with citric acid.");
  assert.deepEqual(found("The boilers are descaled every 24 months with citric acid.", [text]), []);
  assert.deepEqual(found("The boilers are descaled every 12 months with vinegar and salt.", [text]), []);
  assert.deepEqual(found(" … ", [text]), []);
});

test("a quote is not put together from words all over the page", () => {
  const text = page(1, "The price", "of the house", "was reduced", "The garden", "of the year", "was watered");
  assert.deepEqual(found("The garden of the house was reduced", [text]), []);
});
