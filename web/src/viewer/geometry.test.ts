import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type Box,
  boxesOf,
  boxOf,
  type Matrix,
  placedRuns,
  type TextItem,
  type TextStyle,
  textUnder,
} from "./geometry.ts";

const STYLES: Record<string, TextStyle> = {
  upright: { ascent: 0.75, descent: -0.25, vertical: false, fontFamily: "serif" },
};
/** A page of 200 by 100 points as it is shown: PDF counts upwards. */
const UPRIGHT: Matrix = [1, 0, 0, -1, 0, 100];

/** Ten points a character. */
const evenly = (text: string) => 10 * text.length;

function item(str: string, x: number, y: number, rest: Partial<TextItem> = {}): TextItem {
  const width = 10 * str.length;
  return {
    str,
    dir: "ltr",
    transform: [8, 0, 0, 8, x, y],
    width,
    height: 8,
    fontName: "upright",
    hasEOL: false,
    ...rest,
  };
}

function rounded({ x0, y0, x1, y1 }: Box): number[] {
  return [x0, y0, x1, y1].map((edge) => Math.round(edge * 10) / 10 + 0);
}

test("characters stand in proportion along their run, from the top of the page", () => {
  const [run] = placedRuns([item("ABCDE", 20, 50)], STYLES, UPRIGHT, evenly);
  assert.ok(run);
  assert.deepEqual(rounded(boxOf(run, 0, 5)), [20, 44, 70, 52]);
  assert.deepEqual(rounded(boxOf(run, 1, 3)), [30, 44, 50, 52]);
});

test("widths are those of the font, not the same for all characters", () => {
  const widths = (text: string) => [...text].reduce((sum, character) => sum + (character === "i" ? 5 : 15), 0);
  const [run] = placedRuns([item("im", 0, 50)], STYLES, UPRIGHT, widths);
  assert.ok(run);
  assert.deepEqual(rounded(boxOf(run, 0, 1)), [0, 44, 5, 52]);
});

test("a page that is turned turns its characters", () => {
  const turned: Matrix = [0, 1, 1, 0, 0, 0]; // by 90 degrees: upwards becomes to the right
  const [run] = placedRuns([item("ABCDE", 20, 50)], STYLES, turned, evenly);
  assert.ok(run);
  assert.deepEqual(rounded(boxOf(run, 0, 1)), [48, 20, 56, 30]);
});

test("a text from right to left begins at the right", () => {
  const [run] = placedRuns([item("אבגד", 20, 50, { dir: "rtl" })], STYLES, UPRIGHT, evenly);
  assert.ok(run);
  assert.deepEqual(rounded(boxOf(run, 0, 1)), [50, 44, 60, 52]);
});

test("a font without heights, and a text without a width, still have boxes", () => {
  const none = { str: "", width: 0, fontName: "unknown" };
  const [run, empty] = placedRuns(
    [item("AB", 0, 50, { fontName: "x" }), item("", 0, 0, none)],
    STYLES,
    UPRIGHT,
    evenly,
  );
  assert.ok(run && empty);
  assert.deepEqual(rounded(boxOf(run, 0, 2)), [0, 43.6, 20, 51.6]);
  assert.deepEqual(rounded(boxOf(empty, 0, 0)), [0, 93.6, 0, 101.6]);
});

test("runs side by side on a line make one box, lines and columns one each, white space none", () => {
  const items = [
    item("One", 0, 80),
    item(" ", 30, 80),
    item("two", 40, 80),
    item("far", 150, 80),
    item("below", 0, 60),
  ];
  const runs = placedRuns(items, STYLES, UPRIGHT, evenly);
  const stretches = items.map(({ str }, run) => ({ page: 1, run, start: 0, end: str.length }));
  assert.deepEqual(boxesOf(runs, stretches).map(rounded), [
    [0, 14, 30, 22],
    [40, 14, 70, 22],
    [150, 14, 180, 22],
    [0, 34, 50, 42],
  ]);
  const closer = placedRuns([item("One", 0, 80), item("two", 34, 80)], STYLES, UPRIGHT, evenly);
  const both = [0, 1].map((run) => ({ page: 1, run, start: 0, end: 3 }));
  assert.deepEqual(boxesOf(closer, both).map(rounded), [[0, 14, 64, 22]]);
});

test("the text under a box is that whose characters' middle it holds", () => {
  const runs = placedRuns([item("ABCDE", 0, 80), item("FGHIJ", 0, 60)], STYLES, UPRIGHT, evenly);
  assert.equal(textUnder([{ x0: 9, y0: 10, x1: 34, y1: 25 }], runs), "BC");
  assert.equal(textUnder([{ x0: 0, y0: 0, x1: 14, y1: 100 }], runs), "AF");
  assert.equal(textUnder([], runs), "");
});
