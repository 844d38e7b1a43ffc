import { useEffect, useRef, useState } from "preact/hooks";
import { draft } from "../app/drafts.ts";
import { t } from "../i18n/chat.ts";
import { ErrorNotice } from "../ui/ErrorNotice.tsx";
import { Icon } from "../ui/Icon.tsx";
import { Skeleton } from "../ui/Skeleton.tsx";
import css from "./ChatView.module.css";
import { Composer } from "./Composer.tsx";
import { type Chat, chatOf } from "./chats.ts";
import { numbered, textOf } from "./citing.ts";
import { HandoffDialog } from "./HandoffDialog.tsx";
import { doubtOf } from "./Notes.tsx";
import { plain } from "./plain.ts";
import { scope } from "./scope.ts";
import { TurnView } from "./TurnView.tsx";
import type { Turn } from "./turn.ts";
import { Welcome } from "./Welcome.tsx";

const LOOK_MS = 15_000; // how often an answer of a person is looked for

/** A new chat, or the conversation with this id. */
export default function ChatView({ conversation_id }: { conversation_id: string | null }) {
  const chat = chatOf(conversation_id);
  const box = useRef<HTMLTextAreaElement>(null);
  const [asksPerson, askPerson] = useState(false);
  const text = draft(`chat.${conversation_id ?? "new"}`);
  const turns = chat.turns.value;
  useEffect(() => {
    if (!chat.turns.peek().length) void chat.load();
  }, [chat]);
  useEffect(() => {
    // This code may arrive late: whoever is at a control by then stays there.
    const busy = document.activeElement?.matches("button, input, select, textarea");
    if (!busy && matchMedia("(hover: hover)").matches) box.current?.focus({ preventScroll: true });
  }, [chat]);
  useLooking(chat);
  useStopping(chat);
  const end = useFollowing(turns);
  const ask = (question: string) => {
    text.value = "";
    void chat.ask(question, { scope: scope.value });
  };
  const edit = (question: string) => {
    text.value = question;
    box.current?.focus();
  };
  return (
    <div class={css.chat}>
      <div class={css.column} data-empty={turns.length === 0 || undefined}>
        {turns.length > 0 && <h1 class="visually-hidden">{plain(chat.title.value) || t("new_chat")}</h1>}
        {chat.loading.value && <Skeleton lines={6} label={t("loading")} />}
        {chat.problem.value && (
          <ErrorNotice error={chat.problem.value} title={t("load_failed")} retry={() => void chat.load()} />
        )}
        {conversation_id === null && turns.length === 0 && <Welcome onAsk={ask} />}
        {turns.map((turn, place) => (
          <TurnView
            key={turn.key}
            chat={chat}
            turn={turn}
            isLast={place === turns.length - 1}
            onEdit={edit}
            onAskPerson={() => askPerson(true)}
          />
        ))}
        {chat.waits.value && (
          <div class={css.handedOff} role="status">
            <Icon name="person" />
            <div>
              <strong>{t("asked_person")}</strong>
              <p>{t("asked_person_text")}</p>
            </div>
          </div>
        )}
        <div ref={end} />
      </div>
      <div class={css.foot} data-foot>
        {chat.problem.value?.passing === false ? (
          <a href="#/">{t("new_chat")}</a>
        ) : (
          <>
            <Composer
              text={text}
              running={chat.running}
              begun={turns.length > 0}
              box={box}
              onAsk={ask}
              onStop={() => chat.stop()}
              onRecall={() => edit(turns.findLast(({ question }) => question !== null)?.question ?? "")}
            />
            <p class={css.hint}>{t("box_hint")}</p>
          </>
        )}
      </div>
      <p class="visually-hidden" role="status">
        {announced(turns.at(-1))}
      </p>
      {asksPerson && <HandoffDialog chat={chat} onClose={() => askPerson(false)} />}
    </div>
  );
}

/** What screen readers are told of the last answer; its text is read when one goes there. */
function announced(turn: Turn | undefined): string {
  switch (turn?.phase) {
    case "searching":
      return t("progress_searching");
    case "reading":
    case "writing":
      return t("progress_reading", turn.sources.length, new Set(turn.sources.map((each) => each.document_id)).size);
    case "failed":
      return t("progress_failed");
    case "stopped":
      return turn.created_at ? "" : t("progress_stopped");
    case "done":
      if (turn.refusal) return t("progress_refused");
      return [
        t("progress_done", turn.claims.length, numbered(turn.citations, textOf(turn).order).length),
        doubtOf(turn) ?? "",
      ]
        .join(" ")
        .trim();
    default:
      return "";
  }
}

/** While a person was asked, look for the answer now and then, and whenever one comes back to the page. */
function useLooking(chat: Chat): void {
  const waiting = chat.waits.value;
  useEffect(() => {
    const look = () => {
      if (document.visibilityState === "visible") chat.look().catch(() => undefined); // the next look may succeed
    };
    addEventListener("focus", look);
    const timer = waiting ? setInterval(look, LOOK_MS) : undefined;
    return () => {
      removeEventListener("focus", look);
      clearInterval(timer);
    };
  }, [chat, waiting]);
}

const NEAR_PX = 160;
const ABOVE_PX = 16;

/** Show a new question, and follow its answer while one is at the end, but never so far that its beginning is lost. */
function useFollowing(turns: readonly Turn[]) {
  const end = useRef<HTMLDivElement>(null);
  const before = useRef({ count: 0, furthest: 0 });
  useEffect(() => {
    const scroller = end.current?.closest("main");
    const last = [...(end.current?.parentElement?.querySelectorAll("article") ?? [])].at(-1);
    if (!scroller || !last) return;
    const topOf = (part: Element) =>
      part.getBoundingClientRect().top - scroller.getBoundingClientRect().top + scroller.scrollTop;
    // Of a long question the end is shown: what comes of it stands below.
    const answer = last.lastElementChild ?? last;
    const beginning = Math.max(topOf(last), topOf(answer) - scroller.clientHeight / 2);
    const furthest = scroller.scrollHeight - scroller.clientHeight;
    const isNew = turns.length > before.current.count;
    // At the end as it was before this came: an answer that comes at once is longer than the screen's rest.
    const isAtEnd = before.current.furthest - scroller.scrollTop < NEAR_PX;
    before.current = { count: turns.length, furthest };
    const wanted = Math.min(beginning - ABOVE_PX, furthest);
    if (isNew || (isAtEnd && wanted > scroller.scrollTop)) scroller.scrollTop = wanted;
  }, [turns]);
  return end;
}

/** Esc stops the answer from anywhere but the places where it closes something else. */
function useStopping(chat: Chat): void {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const at = event.target instanceof Element ? event.target : null;
      const elsewhere = at !== document.body && (!at?.closest("main") || at.closest("dialog"));
      if (event.key === "Escape" && !event.defaultPrevented && !elsewhere) chat.stop();
    };
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  }, [chat]);
}
