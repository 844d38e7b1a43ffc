/**
 * The text of an answer as blocks to be shown. The service has verified the text word for word, so of Markdown only what
 * takes no character away that a reader needs is read: paragraphs, lists, tables, headings, bold, code. Links, images,
 * HTML, quotation signs and single asterisks stay the characters that they are. There is no way from a text to markup.
 */

import { Marked, type Token, type Tokens } from "marked";
import type { Claim } from "../api/types.ts";
import { plain } from "./plain.ts";

export type Inline =
  | { kind: "text"; text: string }
  | { kind: "code"; text: string }
  | { kind: "strong"; children: Inline[] }
  | { kind: "break" }
  | { kind: "marks"; marks: Mark[] };

/** A marker in the text: the citation `n`, shown as `number`, and the claim that it stands behind, if that is known. */
export interface Mark {
  n: number;
  number: number;
  claim: Claim | null;
}

export type Block =
  | { kind: "paragraph" | "heading"; children: Inline[] }
  | { kind: "list"; ordered: boolean; items: Item[] }
  | { kind: "table"; head: Inline[][]; rows: Inline[][][] }
  | { kind: "code"; text: string }
  | { kind: "rule" };

/** An item of a list, with its number as the text has it, or a sign of another form like "b)"; null where it has none. */
export interface Item {
  number: number | null;
  sign: string | null;
  blocks: Block[];
}

export interface AnswerText {
  blocks: Block[];
  /** The `n` of the citations in the order of their first markers: the first one is shown as 1. */
  order: number[];
}

const UNSIGNED = { number: null, sign: null };
const HALF_MARKER = / ?\[\d{0,4}$/;
const NUMBER = /^\s*(\d+)\./;
const NO_LIST = /^ {0,3}(?:\+|\d+\)|0\d)/; // a sign, and numbers that a list would show in another form
const SIGNS = "•‣▪◦▸▶►➢➤◆❖"; // of items in documents, without boxes and ticks, which say something; a list shows its own
const BULLETS = new RegExp(`^(?: {0,3}[${SIGNS}][ \\t]+\\S[^\\n]*(?:\\n|$))+`);
const LINE_BEFORE_BULLET = new RegExp(`\\n {0,3}[${SIGNS}][ \\t]`);
const BULLET = new RegExp(`^ *[${SIGNS}][ \\t]+`);
const SIGNED = /^ {0,3}(?:(\(?)([a-z]|[ivx]{2,4}|\d{1,2})([.)])(?=[ \t]+\S)|(\d{1,2})(?=[ \t]+\p{Lu}))/u; // "a)", "(1)", "1 Lift"
const ROMAN = ["i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x"];
const NOT_SHOWN = new RegExp(`[*\`${SIGNS}]`, "g");
const MARKERS = /^\[\d{1,4}\](?: ?\[\d{1,4}\])*/;

const off = () => undefined;
const marked = new Marked({
  gfm: true,
  breaks: true,
  tokenizer: {
    html: off,
    tag: off,
    link: off,
    reflink: off,
    autolink: off,
    url: off,
    def: off,
    escape: off,
    code: off,
    lheading: off,
    blockquote: off,
    del: off,
    // false: as usual; undefined: not at all
    list: (source) => (NO_LIST.test(source) ? undefined : false),
    emStrong: (source) => (source.startsWith("**") ? false : undefined),
  },
  extensions: [
    {
      name: "bullets",
      level: "block",
      start: (source) => {
        const at = source.search(LINE_BEFORE_BULLET);
        return at < 0 ? undefined : at + 1;
      },
      tokenizer(source) {
        const raw = BULLETS.exec(source)?.[0];
        if (raw === undefined) return undefined;
        const lines = raw.trimEnd().split("\n");
        const items = lines.map((line) => ({ raw: line, tokens: this.lexer.inlineTokens(line.replace(BULLET, "")) }));
        return { type: "bullets", raw, items };
      },
    },
    {
      name: "signed",
      level: "block",
      start: (source) => {
        for (let at = source.indexOf("\n"); at >= 0; at = source.indexOf("\n", at + 1))
          if (signedLines(source.slice(at + 1)).length > 1) return at + 1;
        return undefined;
      },
      tokenizer(source) {
        const lines = signedLines(source);
        if (lines.length < 2) return undefined;
        const items = lines.map(({ line, sign }) => ({
          sign: sign.trim(),
          tokens: this.lexer.inlineTokens(line.slice(sign.length).trim()),
        }));
        return { type: "signed", raw: source.slice(0, lines.map(({ line }) => line).join("\n").length + 1), items };
      },
    },
    {
      name: "marks",
      level: "inline",
      start: (source) => {
        const at = source.search(/\[\d/);
        return at < 0 ? undefined : at;
      },
      tokenizer: (source) => {
        const found = MARKERS.exec(source);
        return found ? { type: "marks", raw: found[0] } : undefined;
      },
    },
  ],
});

/**
 * The lines at the beginning of a text that are items of one list by signs that Markdown has none of: of one form, and
 * each the next after the one before. A list with numbers and full stops is Markdown's.
 */
function signedLines(text: string): { line: string; sign: string }[] {
  const runs = [false, true].map((roman) => {
    const found: { line: string; sign: string }[] = [];
    let last: { form: string; value: number } | null = null;
    for (let at = 0; at < text.length; ) {
      const end = text.indexOf("\n", at);
      const line = text.slice(at, end < 0 ? text.length : end);
      const sign = SIGNED.exec(line);
      const next = sign && readSign(sign, roman);
      if (!next || (last && (next.form !== last.form || next.value !== last.value + 1))) break;
      found.push({ line, sign: sign[0] });
      last = next;
      at += line.length + 1;
    }
    return found;
  });
  return runs.reduce((best, each) => (each.length > best.length ? each : best), []);
}

/** The form of an item's sign, and the value that it counts by; null if it is none. */
function readSign([, open = "", counted, close = "", bare]: RegExpExecArray, roman: boolean) {
  const said = counted ?? bare ?? "";
  const isNumber = /^\d/.test(said);
  if (said.startsWith("0") || (isNumber && close === "." && !open)) return null;
  const value = isNumber
    ? Number(said)
    : roman
      ? ROMAN.indexOf(said) + 1
      : said.length === 1
        ? said.charCodeAt(0) - 96
        : 0;
  return value ? { form: `${open}${isNumber ? 1 : "a"}${close}`, value } : null;
}

/**
 * Read an answer. `known` are the `n` of its citations: other markers stay text. While it is `arriving` a marker that
 * is not there in full is left out.
 */
export function readAnswer(
  text: string,
  {
    known,
    claims = [],
    arriving = false,
  }: { known: ReadonlySet<number>; claims?: readonly Claim[]; arriving?: boolean },
): AnswerText {
  const shown = plain(arriving ? text.replace(HALF_MARKER, "") : text);
  const reading = new Reading(known, claims);
  return { blocks: reading.blocks(marked.lexer(shown)), order: reading.order };
}

/** How an item is marked that has a sign of its own. */
export function markerOf({ sign }: Item): { listStyleType: string } | undefined {
  return sign === null ? undefined : { listStyleType: `"${sign} "` };
}

class Reading {
  readonly order: number[] = [];
  readonly #known: ReadonlySet<number>;
  readonly #claims: readonly Claim[];
  #before = ""; // what stands before the token in its block

  constructor(known: ReadonlySet<number>, claims: readonly Claim[]) {
    this.#known = known;
    this.#claims = claims;
  }

  blocks(tokens: readonly Token[]): Block[] {
    return tokens.flatMap((token) => this.#block(token));
  }

  #block(token: Token): Block[] {
    switch (token.type) {
      case "space":
        return [];
      case "heading":
        return [{ kind: "heading", children: this.#line(token) }];
      case "list": {
        const { ordered, items } = token as Tokens.List;
        return [{ kind: "list", ordered, items: items.map((item) => this.#item(item, ordered)) }];
      }
      case "bullets": {
        const { items } = token as unknown as { items: Token[] };
        const blocks = items.map((item): Block => ({ kind: "paragraph", children: this.#line(item) }));
        return [{ kind: "list", ordered: false, items: blocks.map((block) => ({ ...UNSIGNED, blocks: [block] })) }];
      }
      case "signed": {
        const { items } = token as unknown as { items: (Token & { sign: string })[] };
        const read = items.map((item): Item => {
          const block: Block = { kind: "paragraph", children: this.#line(item, `${item.sign} `) };
          return { number: null, sign: item.sign, blocks: [block] };
        });
        return [{ kind: "list", ordered: true, items: read }];
      }
      case "table": {
        const { header, rows } = token as Tokens.Table;
        const head = header.map((cell) => this.#line(cell));
        return [{ kind: "table", head, rows: rows.map((row) => row.map((cell) => this.#line(cell))) }];
      }
      case "code":
        return [{ kind: "code", text: (token as Tokens.Code).text }];
      case "hr":
        return [{ kind: "rule" }];
      default:
        return [{ kind: "paragraph", children: this.#line(token) }];
    }
  }

  #item({ raw, tokens }: Tokens.ListItem, ordered: boolean): Item {
    const number = ordered ? NUMBER.exec(raw)?.[1] : undefined;
    return { ...UNSIGNED, number: number === undefined ? null : Number(number), blocks: this.blocks(tokens) };
  }

  #line(token: Token | Tokens.TableCell, before = ""): Inline[] {
    this.#before = before;
    if ("tokens" in token && token.tokens) return this.#inlines(token.tokens);
    return "raw" in token ? [{ kind: "text", text: token.raw }] : [];
  }

  #inlines(tokens: readonly Token[]): Inline[] {
    return tokens.flatMap((token) => this.#inline(token)).reduce(joined, []);
  }

  #inline(token: Token): Inline[] {
    switch (token.type) {
      case "strong":
        return [{ kind: "strong", children: this.#inlines(token.tokens ?? []) }];
      case "codespan":
        this.#before += (token as Tokens.Codespan).text;
        return [{ kind: "code", text: (token as Tokens.Codespan).text }];
      case "br":
        this.#before += " ";
        return [{ kind: "break" }];
      case "marks":
        return [...token.raw.matchAll(/\[(\d+)\]/g)].map(([raw, digits]) => this.#mark(raw, Number(digits)));
      default:
        this.#before += token.raw;
        return [{ kind: "text", text: token.raw }];
    }
  }

  #mark(raw: string, n: number): Inline {
    if (this.#known.has(n)) return { kind: "marks", marks: [{ n, number: this.#number(n), claim: this.#claim(n) }] };
    this.#before += raw;
    return { kind: "text", text: raw };
  }

  #number(n: number): number {
    if (!this.order.includes(n)) this.order.push(n);
    return this.order.indexOf(n) + 1;
  }

  /** The claim that the marker stands behind: of those that cite `n` the one that ends last before it. */
  #claim(n: number): Claim | null {
    const before = comparable(this.#before);
    const citing = this.#claims.filter((claim) => claim.citations.includes(n));
    const ends = citing.map((claim) => ({ claim, at: before.lastIndexOf(comparable(claim.text)) }));
    return ends.reduce((best, each) => (each.at >= best.at ? each : best), { claim: citing[0] ?? null, at: 0 }).claim;
  }
}

/** Neighbouring texts become one, and so do neighbouring marks, the same one once. */
function joined(line: Inline[], next: Inline): Inline[] {
  const last = line.at(-1);
  if (last?.kind === "text" && next.kind === "text") last.text += next.text;
  else if (last?.kind === "marks" && next.kind === "marks") last.marks = united(last.marks, next.marks);
  else line.push(next);
  return line;
}

function united(marks: Mark[], more: Mark[]): Mark[] {
  return [...marks, ...more.filter(({ n }) => !marks.some((each) => each.n === n))];
}

function comparable(text: string): string {
  return plain(text).replace(NOT_SHOWN, "").replace(/\s+/g, " ").trim();
}
