import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { t } from "../i18n/chat.ts";
import { dayAndTime } from "../i18n/format.ts";
import { Button, IconButton } from "../ui/Button.tsx";
import { ErrorNotice } from "../ui/ErrorNotice.tsx";
import { Icon } from "../ui/Icon.tsx";
import { Actions } from "./Actions.tsx";
import { AnswerBody } from "./AnswerBody.tsx";
import type { Chat } from "./chats.ts";
import { numbered, textOf } from "./citing.ts";
import { NearMisses } from "./NearMisses.tsx";
import { Note, Notes } from "./Notes.tsx";
import { Progress } from "./Progress.tsx";
import { plain } from "./plain.ts";
import { Sources } from "./Sources.tsx";
import css from "./TurnView.module.css";
import { isRunning, type Turn } from "./turn.ts";

export interface TurnViewProps {
  chat: Chat;
  turn: Turn;
  /** Questions to ask next are offered below the last answer only. */
  isLast: boolean;
  onEdit: (question: string) => void;
  onAskPerson: () => void;
}

/** One question with its answer. */
export function TurnView({ chat, turn, isLast, onEdit, onAskPerson }: TurnViewProps) {
  const { question } = turn;
  return (
    <article class={css.turn} aria-label={question === null ? t("answer_by_person") : t("answer_to", plain(question))}>
      {question !== null && (
        <div class={css.asked}>
          <h2 class="visually-hidden">{t("question")}</h2>
          <div class={css.question} dir="auto">
            {plain(question)}
          </div>
          {!isRunning(turn) && <IconButton size="s" icon="edit" label={t("edit")} onClick={() => onEdit(question)} />}
        </div>
      )}
      {turn.scope.length > 0 && (
        <p class={css.scope}>
          <Icon name="filter" size={13} /> {t("ask_in")} {turn.scope.map(({ title }) => plain(title)).join(", ")}
        </p>
      )}
      <Answer chat={chat} turn={turn} isLast={isLast} onEdit={onEdit} onAskPerson={onAskPerson} />
    </article>
  );
}

function Answer({ chat, turn, isLast, onAskPerson }: TurnViewProps) {
  const text = useMemo(() => textOf(turn), [turn]);
  const citations = useMemo(() => numbered(turn.citations, text.order), [turn.citations, text]);
  const running = isRunning(turn);
  const again = () => void chat.retry(turn);
  return (
    <div class={css.answer}>
      <h3 class="visually-hidden">{t("answer")}</h3>
      {turn.by === "person" && (
        <p class={css.person}>
          <Icon name="person" size={15} /> {t("answer_by_person")}
          {turn.created_at && <time dateTime={turn.created_at}> · {dayAndTime(turn.created_at)}</time>}
        </p>
      )}
      {turn.refusal ? (
        <Refusal turn={turn} onAskPerson={onAskPerson}>
          <AnswerBody text={text} citations={citations} arriving={false} />
        </Refusal>
      ) : turn.withheld ? (
        <Note icon="key" tone="warn">
          {t("withheld")}
        </Note>
      ) : (
        turn.text && <AnswerBody text={text} citations={citations} arriving={running} />
      )}
      {running && <Progress turn={turn} />}
      {turn.phase === "failed" && <ErrorNotice error={turn.problem} title={t("failed")} retry={again} />}
      {turn.phase === "stopped" && <Stopped turn={turn} onAgain={again} />}
      {turn.phase === "done" && (
        <>
          <Notes turn={turn} />
          <Sources turn={turn} citations={citations} />
          <Actions chat={chat} turn={turn} onAskPerson={onAskPerson} />
          {turn.refusal && <NearMisses turn={turn} />}
          {isLast && <Suggestions chat={chat} turn={turn} />}
        </>
      )}
    </div>
  );
}

type RefusalProps = { turn: Turn; onAskPerson: () => void; children: ComponentChildren };

/** Why there is no answer, and who may know one. */
function Refusal({ turn, onAskPerson, children }: RefusalProps) {
  return (
    <div class={css.refusal}>
      <Icon name="search" size={20} />
      <div>
        <h4>{t("refused_title")}</h4>
        {children}
        <p class={css.why}>{whyRefused(turn)}</p>
      </div>
      {turn.handoff_offered && turn.message_id && (
        <Button size="s" kind="primary" icon="person" onClick={onAskPerson}>
          {t("ask_person")}
        </Button>
      )}
    </div>
  );
}

function whyRefused({ refusal, nearest }: Turn): string {
  if (!refusal) return "";
  if (refusal === "model_does_not_know" || refusal === "nothing_proven") return t(`refused_${refusal}`);
  return t(nearest.length > 0 ? "refused_near" : "refused_words");
}

function Stopped({ turn, onAgain }: { turn: Turn; onAgain: () => void }) {
  return (
    <div class={css.stopped}>
      <Note icon="stop">
        {turn.text || turn.sources.length || !turn.created_at ? t("stopped") : t("stopped_unanswered")}
      </Note>
      <Button size="s" icon="retry" onClick={onAgain}>
        {t("ask_again")}
      </Button>
    </div>
  );
}

function Suggestions({ chat, turn }: { chat: Chat; turn: Turn }) {
  if (!turn.suggestions.length) return null;
  return (
    <section class={css.suggestions} aria-label={t("suggestions")}>
      <p>{t("suggestions")}</p>
      {turn.suggestions.map((each) => (
        <button key={each} type="button" dir="auto" onClick={() => void chat.ask(each, { scope: turn.scope })}>
          {plain(each)}
        </button>
      ))}
    </section>
  );
}
