/** How citations and passages are named, grouped and copied. */

import type { Source } from "../api/types.ts";
import { t } from "../i18n/chat.ts";
import { pagesOf } from "../i18n/format.ts";
import { openSource } from "../viewer/pane.ts";
import { type AnswerText, type Block, type Inline, readAnswer } from "./answerText.ts";
import { plain } from "./plain.ts";
import { type Cited, isRunning, type Turn } from "./turn.ts";

/** A citation as it is shown: with the number of its chips. */
export interface NumberedCitation {
  number: number;
  citation: Cited;
}

/** Passages of one document. */
export interface ReadDocument {
  document_id: string;
  title: string;
  key: string;
  sources: Source[];
}

export interface CitedDocument {
  document_id: string;
  title: string;
  file_name: string;
  citations: NumberedCitation[];
}

/** The text of a turn as it is shown. */
export function textOf(turn: Turn): AnswerText {
  const known = new Set(turn.citations.map(({ n }) => n));
  return readAnswer(turn.text, { known, claims: turn.claims, arriving: isRunning(turn) });
}

/** The citations whose markers are shown, by their numbers. */
export function numbered(citations: readonly Cited[], order: readonly number[]): NumberedCitation[] {
  return order.flatMap((n, place) => {
    const citation = citations.find((each) => each.n === n);
    return citation ? [{ number: place + 1, citation }] : [];
  });
}

/** The name of a citation's file; empty for what was written in Recto (an FAQ): its file's name says nothing. */
export function fileOf({ file_name }: { file_name: string }): string {
  return file_name.endsWith(".json") ? "" : plain(file_name);
}

export function citedDocuments(citations: readonly NumberedCitation[]): CitedDocument[] {
  return grouped(citations, ({ citation }) => citation.document_id).flatMap(([document_id, of]) => {
    const first = of[0]?.citation;
    return first ? [{ document_id, title: titleOf(first), file_name: fileOf(first), citations: of }] : [];
  });
}

/** What was read and not cited: passages on pages that no citation is from. */
export function alsoRead(sources: readonly Source[], citations: readonly NumberedCitation[]): ReadDocument[] {
  const cited = ({ document_id, page_start, page_end }: Source) =>
    citations.some(
      ({ citation }) =>
        citation.document_id === document_id && citation.page_start <= page_end && citation.page_end >= page_start,
    );
  const others = sources.filter((source) => !cited(source));
  return grouped(others, ({ document_id }) => document_id).flatMap(([document_id, of]) => {
    const first = of[0];
    const sorted = of.toSorted((one, other) => one.page_start - other.page_start);
    return first ? [{ document_id, title: titleOf(first), key: first.key, sources: sorted }] : [];
  });
}

export function titleOf({ title, key }: { title: string; key: string }): string {
  return plain(title) || (plain(key).split("/").at(-1) ?? "");
}

/** The last parts of a heading's path. */
export function sectionOf({ section }: { section: string }): string {
  return plain(section).split(" > ").slice(-2).join(" › ");
}

/** Open the document beside the answer, at this citation; one can leaf through the others there. */
export function openCitation(citations: readonly NumberedCitation[], index: number): void {
  const citation = citations[index]?.citation;
  if (!citation) return;
  const { document_id, version_id } = citation;
  openSource({
    document_id,
    ...(version_id && { version_id }),
    title: titleOf(citation),
    citations: citations.map((each) => each.citation),
    index,
  });
}

export function openPage({ document_id, title, key, page_start }: Source): void {
  openSource({ document_id, title: titleOf({ title, key }), citations: [], index: 0, page: page_start });
}

/** The answer as plain text, with its sources and quotes below. */
export function copied(turn: Turn): string {
  const { blocks, order } = textOf(turn);
  const sources = numbered(turn.citations, order).map(({ number, citation }) => {
    const name = fileOf(citation);
    const file = name && name !== citation.title ? `(${name})` : "";
    const where = [titleOf(citation), pagesOf(citation)].filter(Boolean).join(", ");
    return `[${number}] ${where}${file && ` ${file}`}: ${t("quoted", plain(citation.quote))}`;
  });
  return [written(blocks), sources.length ? `${t("sources")}:\n${sources.join("\n")}` : ""]
    .filter(Boolean)
    .join("\n\n");
}

function grouped<Each>(all: readonly Each[], key: (each: Each) => string): [string, Each[]][] {
  const groups = new Map<string, Each[]>();
  for (const each of all) groups.set(key(each), [...(groups.get(key(each)) ?? []), each]);
  return [...groups];
}

function written(blocks: readonly Block[]): string {
  return blocks.map(writtenBlock).join("\n\n");
}

function writtenBlock(block: Block): string {
  switch (block.kind) {
    case "list":
      return block.items
        .map(({ number, blocks }) => `${number === null ? "-" : `${number}.`} ${written(blocks)}`)
        .join("\n");
    case "table":
      return [block.head, ...block.rows].map((row) => row.map(writtenLine).join(" | ")).join("\n");
    case "code":
      return block.text;
    case "rule":
      return "---";
    default:
      return writtenLine(block.children);
  }
}

function writtenLine(line: readonly Inline[]): string {
  return line
    .map((each) => {
      switch (each.kind) {
        case "strong":
          return writtenLine(each.children);
        case "break":
          return "\n";
        case "marks":
          return each.marks.map(({ number }) => `[${number}]`).join("");
        default:
          return each.text;
      }
    })
    .join("");
}
