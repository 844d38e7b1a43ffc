import { useState } from "preact/hooks";
import { api, data } from "../api/client.ts";
import { asProblem } from "../api/problem.ts";
import type { Feedback } from "../api/types.ts";
import { adviceOn } from "../app/advice.ts";
import { t } from "../i18n/chat.ts";
import { Button, IconButton } from "../ui/Button.tsx";
import { toast } from "../ui/toast.ts";
import css from "./Actions.module.css";
import type { Chat } from "./chats.ts";
import { copied } from "./citing.ts";
import { FeedbackForm } from "./FeedbackForm.tsx";
import { ReceiptDialog } from "./ReceiptDialog.tsx";
import type { Turn } from "./turn.ts";

/** What one can do with an answer. */
export function Actions({ chat, turn, onAskPerson }: { chat: Chat; turn: Turn; onAskPerson: () => void }) {
  const [judging, judge] = useState<Judging | null>(null);
  const [explained, explain] = useState(false);
  const copy = () =>
    navigator.clipboard.writeText(copied(turn)).then(
      () => toast(t("copied")),
      () => toast(t("copy_failed")),
    );
  const rating = turn.feedback?.rating;
  const rate = (wanted: "up" | "down") => {
    if (rating === wanted) return void withdraw(chat, turn).then(() => judge(null));
    const { feedback: before } = turn;
    const stored = give(chat, turn, { rating: wanted }).catch(() => undefined); // it has said so
    judge(wanted === "down" ? { before, stored } : null);
  };
  /** Cancelled: the rating is again what it was before. */
  const takeBack = async ({ before, stored }: Judging) => {
    judge(null);
    await stored;
    if (before) give(chat, turn, before).catch(() => undefined);
    else await withdraw(chat, turn);
  };
  return (
    <>
      <div class={css.actions}>
        {!turn.withheld && <IconButton size="s" icon="copy" label={t("copy")} onClick={() => void copy()} />}
        {turn.by === "service" && turn.message_id && !turn.withheld && (
          <>
            <IconButton
              size="s"
              icon="thumbUp"
              label={t("rate_up")}
              pressed={rating === "up"}
              onClick={() => rate("up")}
            />
            <IconButton
              size="s"
              icon="thumbDown"
              label={t("rate_down")}
              pressed={rating === "down"}
              onClick={() => rate("down")}
            />
            <IconButton size="s" icon="help" label={t("receipt")} onClick={() => explain(true)} />
          </>
        )}
        {turn.question !== null && (
          <IconButton
            size="s"
            icon="retry"
            label={t("regenerate")}
            disabled={chat.running}
            onClick={() => void chat.ask(turn.question ?? "", { scope: turn.scope, fresh: true })}
          />
        )}
        {turn.message_id && !turn.handoff_offered && turn.mode !== "service" && (
          <Button size="s" kind="quiet" icon="person" onClick={onAskPerson}>
            {t("ask_person")}
          </Button>
        )}
      </div>
      {explained && <ReceiptDialog message_id={turn.message_id} onClose={() => explain(false)} />}
      {judging && turn.feedback?.rating === "down" && (
        <FeedbackForm
          refused={turn.refusal !== null}
          onSend={(said) => give(chat, turn, { rating: "down", ...said }).then(() => toast(t("feedback_thanks")))}
          onSent={() => judge(null)}
          onCancel={() => void takeBack(judging)}
        />
      )}
    </>
  );
}

/** A rating that may still be explained or cancelled; `stored` ends when the API has it, or did not take it. */
interface Judging {
  before: Feedback | null;
  stored: Promise<void>;
}

type Said = Pick<Feedback, "rating"> & Partial<Pick<Feedback, "reason" | "comment">>;

async function give(chat: Chat, turn: Turn, said: Said): Promise<void> {
  const before = turn.feedback;
  chat.rate(turn, { reason: null, comment: "", updated_at: "", ...said });
  const { reason, ...rest } = said;
  const body = { ...rest, ...(reason && { reason }) };
  try {
    const path = { message_id: turn.message_id };
    chat.rate(turn, await data(api().PUT("/messages/{message_id}/feedback", { params: { path }, body })));
  } catch (error) {
    chat.rate(turn, before);
    toast(adviceOn(asProblem(error)));
    throw error;
  }
}

async function withdraw(chat: Chat, turn: Turn): Promise<void> {
  try {
    const path = { message_id: turn.message_id };
    await data(api().DELETE("/messages/{message_id}/feedback", { params: { path } }));
    chat.rate(turn, null);
    toast(t("feedback_taken"));
  } catch (error) {
    toast(adviceOn(asProblem(error)));
  }
}
