/**
 * Finds a quote in the text layers of pages: the stored text has lost line ends, hyphens, ligatures, running headers
 * and leaders, and has columns and tables in reading order. What is found is certain, or it is not returned.
 */

/** A piece of text of a page, as the file draws it. `ends` says that a line ends after it. */
export interface Run {
  text: string;
  ends: boolean;
}

export interface PageText {
  page: number;
  runs: readonly Run[];
}

/** Characters `start` to before `end` of a run of a page. */
export interface Stretch {
  page: number;
  run: number;
  start: number;
  end: number;
}

/** The stored text before and after a quote: it tells two places with the same words apart. */
export interface Surroundings {
  before: string;
  after: string;
}

/** Characters of a quote from which it may begin or end within what looks like a word: some files draw no spaces. */
const LONG = 20;
/** Squeezed characters that may stand between two pieces of a quote, one of them short. */
const NEAR = 600;
/** The shortest piece of a quote that is looked for by itself. */
const SHORTEST_PIECE = 8;
/** Characters of a quote for each piece it may be in: more would be a mosaic of words. */
const CHARACTERS_A_PIECE = 24;
/** Squeezed characters of the surroundings that are compared. */
const REACH = 80;

const SAME_SIGN: Readonly<Record<string, string>> = {
  "“": '"',
  "”": '"',
  "„": '"',
  "‟": '"',
  "«": '"',
  "»": '"',
  "‘": "'",
  "’": "'",
  "‚": "'",
  "‛": "'",
  "´": "'",
  "`": "'",
};
/** White space, hyphens and dashes, borders of cells, bullets, and what is invisible or has no meaning of its own. */
const IGNORED =
  /[\s\p{Cf}\p{Cc}\p{Co}\p{Mn}\p{Pd}|_\u2022\u00b7\u25aa\u25cf\u27a2\u2713\u2192\u2212\u2215\ufffd\ufffe]/gu;
const LEADERS = /\.{2,}/g;
const LETTER_OR_DIGIT = /[\p{L}\p{N}]/u;

const compared = new Map<string, string>();

/** Returns how a character is compared: without case, marks and typography, or not at all. */
function comparedAs(character: string): string {
  let sign = compared.get(character);
  if (sign === undefined) {
    sign = (SAME_SIGN[character] ?? character).normalize("NFKD").toLowerCase().replace(IGNORED, "");
    compared.set(character, sign);
  }
  return sign;
}

/** Returns a text without what a file and its stored text may differ in. */
export function squeeze(text: string): string {
  return [...text].map(comparedAs).join("").replace(LEADERS, "");
}

/** The squeezed text of pages, and where in them each of its characters stands. */
class Haystack {
  readonly text: string;
  readonly #signs: readonly Sign[];

  constructor(pages: readonly PageText[]) {
    const signs = withoutLeaders(pages.flatMap(signsOf));
    this.#signs = signs;
    this.text = signs.map(({ sign }) => sign).join("");
  }

  /** Returns where a text stands. */
  *occurrences(text: string): Generator<number> {
    for (let at = this.text.indexOf(text); at >= 0; at = this.text.indexOf(text, at + 1)) {
      yield at;
    }
  }

  /** Returns whether a piece begins and ends at borders of words and numbers: not "5" in "15". */
  isWhole(at: number, length: number): boolean {
    return !this.#signs[at]?.goesOn && !this.#signs[at + length]?.goesOn;
  }

  /** Returns whether a run ends behind a character. */
  isRunEnd(at: number): boolean {
    const [here, next] = [this.#signs[at]?.place, this.#signs[at + 1]?.place];
    return here?.run !== next?.run || here?.page !== next?.page;
  }

  /** Returns the stretches of runs that a piece consists of. */
  stretches(at: number, length: number): Stretch[] {
    const found: Stretch[] = [];
    let before: Sign | undefined;
    for (const sign of this.#signs.slice(at, at + length)) {
      const { place } = sign;
      const last = found.at(-1);
      if (last && last.page === place.page && last.run === place.run) {
        last.end = Math.max(last.end, place.end);
      } else {
        if (last && before) {
          last.end = before.runEnd; // with its hyphen
        }
        found.push({ ...place });
      }
      before = sign;
    }
    return found;
  }
}

/** A squeezed character (one UTF-16 unit), and whether it goes on a word or number that stands directly before it. */
interface Sign {
  sign: string;
  place: Stretch;
  goesOn: boolean;
  /** Where the text of its run ends. */
  runEnd: number;
}

function signsOf({ page, runs }: PageText): Sign[] {
  const signs: Sign[] = [];
  let isInWord = false;
  runs.forEach((run, number) => {
    let at = 0;
    const runEnd = run.text.trimEnd().length;
    for (const character of run.text) {
      const place = { page, run: number, start: at, end: at + character.length };
      const isWord = LETTER_OR_DIGIT.test(character);
      for (const sign of comparedAs(character).split("")) {
        signs.push({ sign, place, goesOn: isInWord && isWord, runEnd });
      }
      isInWord = isWord;
      at = place.end;
    }
    isInWord &&= !run.ends;
  });
  return signs;
}

function withoutLeaders(signs: readonly Sign[]): Sign[] {
  return signs.filter(({ sign }, at) => sign !== "." || (signs[at - 1]?.sign !== "." && signs[at + 1]?.sign !== "."));
}

/** Returns every place of a quote in pages, each as stretches of their runs in the order of the quote. */
export function placesOf(quote: string, pages: readonly PageText[], around?: Surroundings): Stretch[][] {
  const wanted = squeeze(quote);
  if (wanted === "") {
    return [];
  }
  const haystack = new Haystack(pages);
  const whole = [...haystack.occurrences(wanted)].filter(
    (at) => wanted.length >= LONG || haystack.isWhole(at, wanted.length),
  );
  if (whole.length > 0) {
    return nearest(haystack, whole, wanted.length, around).map((at) => haystack.stretches(at, wanted.length));
  }
  const pieces = inPieces(haystack, wanted);
  return pieces ? [pieces.flatMap(({ at, length }) => haystack.stretches(at, length))] : [];
}

/** Returns where words stand on a page, also within longer ones, each as stretches of its runs. */
export function occurrencesOf(words: string, page: PageText): Stretch[][] {
  const wanted = squeeze(words);
  if (wanted === "") return [];
  const haystack = new Haystack([page]);
  return [...haystack.occurrences(wanted)].map((at) => haystack.stretches(at, wanted.length));
}

/** Returns the occurrences whose surroundings agree best with those of the quote. */
function nearest(haystack: Haystack, found: readonly number[], length: number, around?: Surroundings): number[] {
  if (!around || found.length < 2) {
    return [...found];
  }
  const before = [...squeeze(around.before)].reverse().slice(0, REACH);
  const after = [...squeeze(around.after)].slice(0, REACH);
  const agreement = found.map((at) => {
    const left = [...haystack.text.slice(Math.max(0, at - REACH), at)].reverse();
    const right = [...haystack.text.slice(at + length, at + length + REACH)];
    return commonLength(before, left) + commonLength(after, right);
  });
  const best = Math.max(...agreement);
  return found.filter((_, at) => agreement[at] === best);
}

function commonLength(one: readonly string[], other: readonly string[]): number {
  const length = Math.min(one.length, other.length);
  for (let at = 0; at < length; at++) {
    if (one[at] !== other[at]) {
      return at;
    }
  }
  return length;
}

interface Piece {
  at: number;
  length: number;
}

/**
 * Returns the pieces that a quote is drawn in, if something stands between them: a running header, the foot of a page,
 * another column. A piece ends where a run ends. Short pieces count only if they follow one another closely.
 */
function inPieces(haystack: Haystack, wanted: string): Piece[] | null {
  const pieces: Piece[] = [];
  let done = 0;
  while (done < wanted.length) {
    const piece = longestPiece(haystack, wanted.slice(done), pieces.at(-1));
    if (!piece || pieces.length > wanted.length / CHARACTERS_A_PIECE) {
      return null;
    }
    pieces.push(piece);
    done += piece.length;
  }
  return pieces;
}

/** Returns the longest beginning of a text that stands somewhere up to the end of a run, if it is certain which. */
function longestPiece(haystack: Haystack, text: string, before: Piece | undefined): Piece | null {
  const found: Piece[] = [];
  for (const at of haystack.occurrences(text.slice(0, SHORTEST_PIECE))) {
    const length = lengthUpToRunEnd(haystack, text, at);
    if (length > 0 && (text.length >= LONG || haystack.isWhole(at, length))) {
      found.push({ at, length });
    }
  }
  const longest = Math.max(0, ...found.map(({ length }) => length));
  const best = found.filter(({ length }) => length === longest);
  const next = before && best.find((piece) => follows(before, piece));
  if (next) {
    return next;
  }
  const isLong = longest >= LONG && (!before || before.length >= LONG);
  return best.length === 1 && (isLong || !before) ? (best[0] ?? null) : null;
}

/** Returns how much of the beginning of a text stands at a place, cut at the end of a run unless it is all of it. */
function lengthUpToRunEnd(haystack: Haystack, text: string, at: number): number {
  let length = 0;
  let certain = 0;
  while (length < text.length && haystack.text[at + length] === text[length]) {
    length++;
    if (length === text.length || haystack.isRunEnd(at + length - 1)) {
      certain = length;
    }
  }
  return certain;
}

function follows(before: Piece, piece: Piece): boolean {
  const gap = piece.at - before.at - before.length;
  return gap >= 0 && gap < NEAR;
}
