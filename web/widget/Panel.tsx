import { useEffect, useRef, useState } from "preact/hooks";
import type { Citation } from "../src/api/types.ts";
import { type Block, type Inline, markerOf, readAnswer } from "../src/chat/answerText.ts";
import { plain } from "../src/chat/plain.ts";
import { type Arriving, ask, Refused, type Settings } from "./asking.ts";
import type { Words } from "./words.ts";

interface Turn {
  question: string;
  got: Arriving | null;
  failure: string | null;
}

interface Props {
  settings: Settings;
  words: Words;
  title: string;
  /** The page's address, where a source can be opened; empty for none. */
  page: string;
}

/** The button, and the conversation that it opens, which stays while it is closed. */
export function Panel(props: Props) {
  const [isOpen, setOpen] = useState(false);
  const [turns, setTurns] = useState<Turn[]>([]);
  const button = useRef<HTMLButtonElement>(null);
  const close = () => {
    setOpen(false);
    button.current?.focus();
  };
  return (
    <>
      <button type="button" class="launch" aria-expanded={isOpen} ref={button} onClick={() => setOpen(!isOpen)}>
        {props.words.open}
      </button>
      {isOpen && <Conversation {...props} turns={turns} setTurns={setTurns} close={close} />}
    </>
  );
}

type Begun = { turns: Turn[]; setTurns: (turns: Turn[]) => void; close: () => void };

function Conversation({ settings, words, title, page, turns, setTurns, close }: Props & Begun) {
  const [running, setRunning] = useState<AbortController | null>(null);
  const box = useRef<HTMLTextAreaElement>(null);
  const end = useRef<HTMLDivElement>(null);
  useEffect(() => box.current?.focus(), []);
  useEffect(() => () => running?.abort(), [running]);

  const put = async (question: string) => {
    const stop = new AbortController();
    const conversation = turns.findLast((turn) => turn.got?.answer)?.got?.answer?.conversation_id ?? null;
    const before = turns;
    setRunning(stop);
    setTurns([...before, { question, got: null, failure: null }]);
    let got: Arriving | null = null;
    try {
      for await (got of ask(settings, question, conversation, stop.signal)) {
        setTurns([...before, { question, got, failure: null }]);
        end.current?.scrollIntoView({ block: "nearest" });
      }
    } catch (error) {
      if (!stop.signal.aborted) setTurns([...before, { question, got, failure: failureIn(words, error) }]);
    }
    setRunning(null);
    box.current?.focus();
  };

  const send = () => {
    const question = box.current?.value.trim() ?? "";
    if (!question || running || !box.current) return;
    box.current.value = "";
    void put(question);
  };

  return (
    <section
      class="panel"
      role="dialog"
      aria-label={title}
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        event.stopPropagation();
        if (running) running.abort();
        else close();
      }}
    >
      <header>
        <h2>{title}</h2>
        <button type="button" class="quiet" aria-label={words.close} onClick={close}>
          ×
        </button>
      </header>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard */}
      <div class="turns" role="log" tabIndex={0} aria-label={title}>
        {turns.length === 0 && <p class="soft">{words.empty}</p>}
        {turns.map((turn, at) => (
          <TurnView
            key={at}
            turn={turn}
            words={words}
            page={page}
            running={running !== null && at === turns.length - 1}
          />
        ))}
        <div ref={end} />
      </div>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          send();
        }}
      >
        <textarea
          ref={box}
          rows={2}
          maxLength={4000}
          aria-label={words.box}
          placeholder={words.box}
          onKeyDown={(event) => {
            if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
            event.preventDefault();
            send();
          }}
        />
        {running ? (
          <button type="button" onClick={() => running.abort()}>
            {words.stop}
          </button>
        ) : (
          <button type="submit">{words.ask}</button>
        )}
      </form>
    </section>
  );
}

function failureIn(words: Words, error: unknown): string {
  return error instanceof Refused && [401, 403].includes(error.status) ? words.not_allowed : words.failed;
}

function TurnView({ turn, words, page, running }: { turn: Turn; words: Words; page: string; running: boolean }) {
  const [shown, setShown] = useState<{ n: number } | null>(null); // another one at each click
  const { got } = turn;
  const citations = new Map(got?.citations.map((each) => [each.n, each]));
  const text = readAnswer(got?.text ?? "", { known: new Set(citations.keys()), arriving: !got?.answer });
  const cited = text.order.flatMap((n) => citations.get(n) ?? []);
  return (
    <article>
      <p class="question">{plain(turn.question)}</p>
      {running && !got?.text && <p class="soft">{words.searching}</p>}
      {got?.answer?.no_relevant_info && <p class="refusal">{words.not_answered}</p>}
      {text.blocks.map((block, at) => (
        <BlockView key={at} block={block} open={(n) => setShown({ n })} words={words} />
      ))}
      {got?.answer?.band === "low" && !got.answer.no_relevant_info && <p class="soft">{words.unsure}</p>}
      {(got?.answer?.support?.unconfirmed ?? 0) > 0 && <p class="soft">{words.unconfirmed}</p>}
      {turn.failure && <p role="alert">{turn.failure}</p>}
      {cited.length > 0 && (
        <ol class="sources" aria-label={words.sources}>
          {cited.map((each, at) => (
            <SourceView
              key={each.n}
              citation={each}
              number={at + 1}
              open={shown?.n === each.n ? shown : null}
              words={words}
              page={page}
            />
          ))}
        </ol>
      )}
    </article>
  );
}

function SourceView(props: { citation: Citation; number: number; open: object | null; words: Words; page: string }) {
  const { citation, number, open, words, page } = props;
  const details = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    if (open && details.current) {
      details.current.open = true;
      details.current.scrollIntoView({ block: "nearest" });
    }
  }, [open]);
  const where = `${page}#/documents/${encodeURIComponent(citation.document_id)}?page=${citation.page_start}`;
  return (
    <li>
      <details ref={details}>
        <summary>
          <b>{number}</b> {plain(citation.title)}, {words.page(citation.page_start, citation.page_label)}
        </summary>
        <blockquote>{plain(citation.quote)}</blockquote>
        {page && (
          <a href={where} target="_blank" rel="noopener noreferrer">
            {words.open_page(citation.page_start)}
          </a>
        )}
      </details>
    </li>
  );
}

interface Shown {
  words: Words;
  open: (n: number) => void;
}

function BlockView({ block, ...shown }: { block: Block } & Shown) {
  switch (block.kind) {
    case "heading":
      return (
        <p>
          <b>
            <Line line={block.children} {...shown} />
          </b>
        </p>
      );
    case "list": {
      const items = block.items.map((item, at) => (
        <li key={at} value={item.number ?? undefined} style={markerOf(item)}>
          {item.blocks.map((each, index) => (
            <BlockView key={index} block={each} {...shown} />
          ))}
        </li>
      ));
      return block.ordered ? <ol>{items}</ol> : <ul>{items}</ul>;
    }
    case "table":
      return (
        <table>
          {[block.head, ...block.rows].map((row, at) => (
            <tr key={at}>
              {row.map((cell, index) => (
                <td key={index}>
                  <Line line={cell} {...shown} />
                </td>
              ))}
            </tr>
          ))}
        </table>
      );
    case "code":
      return <pre>{block.text}</pre>;
    case "rule":
      return <hr />;
    default:
      return (
        <p>
          <Line line={block.children} {...shown} />
        </p>
      );
  }
}

function Line({ line, words, open }: { line: Inline[] } & Shown) {
  return (
    <>
      {line.map((each, at) => {
        switch (each.kind) {
          case "text":
            return each.text;
          case "code":
            return <code key={at}>{each.text}</code>;
          case "break":
            return <br key={at} />;
          case "strong":
            return (
              <b key={at}>
                <Line line={each.children} words={words} open={open} />
              </b>
            );
          default:
            return each.marks.map((mark) => (
              <button
                key={mark.n}
                type="button"
                class="mark"
                aria-label={words.source(mark.number)}
                onClick={() => open(mark.n)}
              >
                {mark.number}
              </button>
            ));
        }
      })}
    </>
  );
}
