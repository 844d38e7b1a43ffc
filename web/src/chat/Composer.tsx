import type { Signal } from "@preact/signals";
import type { RefObject } from "preact";
import { useId, useLayoutEffect } from "preact/hooks";
import { config } from "../app/config.ts";
import { t } from "../i18n/chat.ts";
import { number } from "../i18n/format.ts";
import { Icon } from "../ui/Icon.tsx";
import css from "./Composer.module.css";
import { plain } from "./plain.ts";
import { limitTo, scope } from "./scope.ts";

const MOST = 4_000; // characters of a question, as the service counts them
const NEAR = 0.9; // share of them from which on they are counted

export interface ComposerProps {
  /** What is typed; it outlives the view. */
  text: Signal<string>;
  running: boolean;
  /** Whether something was asked already. */
  begun: boolean;
  box: RefObject<HTMLTextAreaElement | null>;
  onAsk: (question: string) => void;
  onStop: () => void;
  /** Take up the last question. */
  onRecall: () => void;
}

/** The question box: Enter asks, Shift+Enter begins a line, Esc stops the answer, the arrow up takes up the last question. */
export function Composer({ text, running, begun, box, onAsk, onStop, onRecall }: ComposerProps) {
  const typed = text.value;
  const empty = !typed.trim();
  const most = config().max_question_characters ?? MOST;
  const length = [...typed.trim()].length;
  const isTooLong = length > most;
  const about = useId();
  useLayoutEffect(() => {
    const area = box.current;
    if (!area) return;
    area.style.height = "auto";
    area.style.height = `${area.scrollHeight}px`;
  }, [typed, box]);
  const ask = () => {
    if (!empty && !running && !isTooLong) onAsk(typed.trim());
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.isComposing) return; // Enter chooses a letter
    if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      ask();
    } else if (event.key === "ArrowUp" && typed === "") {
      event.preventDefault();
      onRecall();
    }
  };
  return (
    <form
      class={css.composer}
      data-wrong={isTooLong || undefined}
      onSubmit={(event) => {
        event.preventDefault();
        ask();
      }}
    >
      {scope.value.length > 0 && (
        <ul class={css.scope} aria-label={t("ask_in")}>
          {scope.value.map((each) => (
            <li key={each.document_id}>
              <Icon name="filter" size={13} />
              <span class={css.title}>{plain(each.title)}</span>
              <button
                type="button"
                aria-label={t("scope_clear", plain(each.title))}
                onClick={() => limitTo(each, false)}
              >
                <Icon name="close" size={13} />
              </button>
            </li>
          ))}
        </ul>
      )}
      <div class={css.row}>
        <textarea
          ref={box}
          class={css.box}
          rows={1}
          dir="auto"
          aria-label={t("box")}
          placeholder={begun ? t("box_followup") : t("box_placeholder")}
          aria-invalid={isTooLong}
          aria-describedby={length > most * NEAR ? about : undefined}
          value={typed}
          onInput={({ currentTarget }) => {
            text.value = currentTarget.value;
          }}
          onKeyDown={onKeyDown}
        />
        {running ? (
          <button type="button" class={css.send} aria-label={t("stop")} title={t("stop")} onClick={onStop}>
            <Icon name="stop" />
          </button>
        ) : (
          <button type="submit" class={css.send} aria-label={t("send")} title={t("send")} disabled={empty || isTooLong}>
            <Icon name="send" />
          </button>
        )}
      </div>
      <p id={about} class={css.length} role="status">
        {isTooLong
          ? t("box_too_long", length - most, number(most))
          : length > most * NEAR && t("box_length", number(length), number(most))}
      </p>
    </form>
  );
}
