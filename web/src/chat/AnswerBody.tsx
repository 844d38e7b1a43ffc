import type { JSX } from "preact";
import css from "./AnswerBody.module.css";
import { type AnswerText, type Block, type Inline, markerOf } from "./answerText.ts";
import type { NumberedCitation } from "./citing.ts";
import { Marks } from "./Marks.tsx";

/** The text of an answer with its markers as chips. */
export function AnswerBody(props: { text: AnswerText; citations: readonly NumberedCitation[]; arriving: boolean }) {
  return (
    <div class={css.body} dir="auto" data-arriving={props.arriving || undefined}>
      <Blocks blocks={props.text.blocks} citations={props.citations} />
    </div>
  );
}

type Shown<What> = What & { citations: readonly NumberedCitation[] };

function Blocks({ blocks, citations }: Shown<{ blocks: readonly Block[] }>) {
  return blocks.map((block, place) => <One key={place} block={block} citations={citations} />);
}

function One({ block, citations }: Shown<{ block: Block }>): JSX.Element {
  switch (block.kind) {
    case "list": {
      const items = block.items.map((item, place) => (
        <li key={place} value={item.number ?? undefined} style={markerOf(item)}>
          <Blocks blocks={item.blocks} citations={citations} />
        </li>
      ));
      if (!block.ordered) return <ul>{items}</ul>;
      const digits = Math.max(...block.items.map(({ number, sign }) => sign?.length ?? String(number).length));
      return <ol style={{ "--digits": digits }}>{items}</ol>;
    }
    case "table":
      return <Table head={block.head} rows={block.rows} citations={citations} />;
    case "code":
      return (
        <pre>
          <code>{block.text}</code>
        </pre>
      );
    case "rule":
      return <hr />;
    case "heading":
      return (
        <h3>
          <Line line={block.children} citations={citations} />
        </h3>
      );
    case "paragraph":
      return (
        <p>
          <Line line={block.children} citations={citations} />
        </p>
      );
  }
}

function Table({ head, rows, citations }: Shown<{ head: Inline[][]; rows: Inline[][][] }>) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a wide table is scrolled by keyboard, too
    <div class={css.table} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {head.map((cell, column) => (
              <th key={column} scope="col">
                <Line line={cell} citations={citations} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, place) => (
            <tr key={place}>
              {row.map((cell, column) => (
                <td key={column}>
                  <Line line={cell} citations={citations} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Line({ line, citations }: Shown<{ line: readonly Inline[] }>) {
  return line.map((each, place) => <Piece key={place} piece={each} next={line[place + 1]} citations={citations} />);
}

function Piece({ piece, next, citations }: Shown<{ piece: Inline; next: Inline | undefined }>) {
  switch (piece.kind) {
    case "text":
      // The space before a chip would let it begin a line alone.
      return next?.kind === "marks" ? piece.text.trimEnd() : piece.text;
    case "code":
      return <code>{piece.text}</code>;
    case "strong":
      return (
        <strong>
          <Line line={piece.children} citations={citations} />
        </strong>
      );
    case "break":
      return <br />;
    case "marks":
      return <Marks marks={piece.marks} citations={citations} />;
  }
}
