/** Where the characters of a page stand, worked out from what pdf.js says of its runs of text. */

import type { Run, Stretch } from "./find.ts";

/** A rectangle in points from the top left corner of the page as it is shown. */
export interface Box {
  x0: number;
  y0: number;
  x1: number;
  y1: number;
}

/** A matrix as PDF and canvas write it: (x, y) becomes (a x + c y + e, b x + d y + f). */
export type Matrix = readonly number[];

/** A run of text as pdf.js gives it (`TextItem`), with the matrix of its font on the page. */
export interface TextItem {
  str: string;
  dir: string;
  transform: Matrix;
  width: number;
  height: number;
  fontName: string;
  hasEOL: boolean;
}

export interface TextStyle {
  ascent: number;
  descent: number;
  vertical: boolean;
  fontFamily: string;
}

/** How wide a text is in a font, in any unit: only shares of a run are asked for. */
export type Measure = (text: string, fontFamily: string) => number;

/** A run with its place: where it begins on the base line, and its directions onwards and upwards, in points. */
export interface PlacedRun extends Run {
  at: readonly [number, number];
  onward: readonly [number, number];
  upward: readonly [number, number];
  length: number;
  ascent: number;
  descent: number;
  /** The share of the run's length before its character `at`; worked out when it is first asked for. */
  share: (at: number) => number;
  rightToLeft: boolean;
}

/** Heights above and below the base line where a font does not say them. */
const ASCENT = 0.8;
const DESCENT = -0.2;

/** Returns the runs of a page with their places. `toPage` is the matrix of the page as it is shown, at one pixel a point. */
export function placedRuns(
  items: readonly TextItem[],
  styles: Readonly<Record<string, TextStyle>>,
  toPage: Matrix,
  measure: Measure,
): PlacedRun[] {
  return items.map((item) => placedRun(item, styles[item.fontName], toPage, measure));
}

function placedRun(item: TextItem, style: TextStyle | undefined, toPage: Matrix, measure: Measure): PlacedRun {
  const [a, b, c, d, e, f] = product(toPage, item.transform);
  const unit = Math.hypot(toPage[0] ?? 1, toPage[1] ?? 0);
  const along = Math.hypot(a, b) || 1;
  const size = Math.hypot(c, d);
  const across: [number, number] = size ? [c / size, d / size] : [0, -1];
  const isVertical = style?.vertical === true;
  return {
    text: item.str,
    ends: item.hasEOL,
    at: isVertical ? [e - (across[1] * size) / 2, f + (across[0] * size) / 2] : [e, f],
    onward: isVertical ? [-across[0], -across[1]] : [a / along, b / along],
    upward: isVertical ? [a / along, b / along] : across,
    length: (isVertical ? item.height : item.width) * unit,
    ascent: isVertical ? size : size * (style?.ascent || ASCENT),
    descent: isVertical ? 0 : size * (style?.descent || DESCENT),
    share: shareOf(item.str, (text) => measure(text, style?.fontFamily ?? "sans-serif")),
    rightToLeft: item.dir === "rtl",
  };
}

/** Returns the matrix that applies `inner`, then `outer`. */
function product(outer: Matrix, inner: Matrix): [number, number, number, number, number, number] {
  const [a = 1, b = 0, c = 0, d = 1, e = 0, f = 0] = outer;
  const [g = 1, h = 0, i = 0, j = 1, k = 0, l = 0] = inner;
  return [a * g + c * h, b * g + d * h, a * i + c * j, b * i + d * j, a * k + c * l + e, b * k + d * l + f];
}

function shareOf(text: string, measure: (text: string) => number): (at: number) => number {
  let shares: number[] | undefined;
  return (at) => {
    shares ??= sharesOf(text, measure);
    return shares[at] ?? 1;
  };
}

function sharesOf(text: string, measure: (text: string) => number): number[] {
  const whole = measure(text);
  const evenly = Math.max(1, text.length);
  return Array.from({ length: text.length + 1 }, (_, at) =>
    whole > 0 ? measure(text.slice(0, at)) / whole : at / evenly,
  );
}

/** Returns the box around characters of a run. */
export function boxOf(run: PlacedRun, start: number, end: number): Box {
  const share = (at: number) => (run.rightToLeft ? 1 - run.share(at) : run.share(at)) * run.length;
  const corners = [share(start), share(end)].flatMap((along) =>
    [run.ascent, run.descent].map((up) => [
      run.at[0] + along * run.onward[0] + up * run.upward[0],
      run.at[1] + along * run.onward[1] + up * run.upward[1],
    ]),
  );
  const xs = corners.map(([x = 0]) => x);
  const ys = corners.map(([, y = 0]) => y);
  return { x0: Math.min(...xs), y0: Math.min(...ys), x1: Math.max(...xs), y1: Math.max(...ys) };
}

/** Returns the boxes of stretches of a page's runs, those that stand side by side on a line as one. */
export function boxesOf(runs: readonly PlacedRun[], stretches: readonly Stretch[]): Box[] {
  const boxes: Box[] = [];
  for (const { run, start, end } of stretches) {
    const placed = runs[run];
    const text = placed?.text.slice(start, end) ?? "";
    if (!placed || text.trim() === "") continue;
    const box = boxOf(
      placed,
      start + (text.length - text.trimStart().length),
      end - (text.length - text.trimEnd().length),
    );
    const last = boxes.at(-1);
    if (last && isBeside(last, box)) {
      boxes[boxes.length - 1] = union(last, box);
    } else {
      boxes.push(box);
    }
  }
  return boxes;
}

/** Returns whether a box goes on the line of another one, at most a wide space behind it. */
function isBeside(box: Box, next: Box): boolean {
  const height = Math.min(box.y1 - box.y0, next.y1 - next.y0);
  const overlap = Math.min(box.y1, next.y1) - Math.max(box.y0, next.y0);
  const gap = Math.max(next.x0 - box.x1, box.x0 - next.x1);
  return overlap > 0.6 * height && gap < height;
}

function union(one: Box, other: Box): Box {
  return {
    x0: Math.min(one.x0, other.x0),
    y0: Math.min(one.y0, other.y0),
    x1: Math.max(one.x1, other.x1),
    y1: Math.max(one.y1, other.y1),
  };
}

/** Returns the characters whose middle lies in one of the boxes. */
export function textUnder(boxes: readonly Box[], runs: readonly PlacedRun[]): string {
  let text = "";
  for (const run of runs) {
    const whole = boxOf(run, 0, run.text.length);
    const near = boxes.filter(
      (box) => box.x0 <= whole.x1 && whole.x0 <= box.x1 && box.y0 <= whole.y1 && whole.y0 <= box.y1,
    );
    if (near.length === 0) continue;
    for (let at = 0; at < run.text.length; at++) {
      const { x0, y0, x1, y1 } = boxOf(run, at, at + 1);
      const [x, y] = [(x0 + x1) / 2, (y0 + y1) / 2];
      if (near.some((box) => box.x0 <= x && x <= box.x1 && box.y0 <= y && y <= box.y1)) text += run.text[at];
    }
  }
  return text;
}
