import { useState } from "preact/hooks";
import type { Feedback } from "../api/types.ts";
import { t } from "../i18n/chat.ts";
import { Button } from "../ui/Button.tsx";
import { TextArea } from "../ui/Field.tsx";
import css from "./FeedbackForm.module.css";
import { scrolledTo } from "./scrolling.ts";

type Reason = NonNullable<Feedback["reason"]>;

const OF_ANSWERS: readonly Reason[] = [
  "wrong",
  "incomplete",
  "off_topic",
  "wrong_source",
  "outdated",
  "unclear",
  "other",
];
const OF_REFUSALS: readonly Reason[] = ["not_answered", "unclear", "other"];
const MOST = 2000; // characters of a comment

export interface FeedbackFormProps {
  refused: boolean;
  onSend: (said: { reason?: Reason; comment: string }) => Promise<void>;
  onSent: () => void;
  onCancel: () => void;
}

/** What is wrong with an answer, in a word and if one likes in more. */
export function FeedbackForm({ refused, onSend, onSent, onCancel }: FeedbackFormProps) {
  const [reason, choose] = useState<Reason | null>(null);
  const [comment, write] = useState("");
  const [busy, setBusy] = useState(false);
  const submit = (event: Event) => {
    event.preventDefault();
    setBusy(true);
    onSend({ ...(reason && { reason }), comment }).then(onSent, () => setBusy(false));
  };
  return (
    <form class={css.form} onSubmit={submit} ref={scrolledTo}>
      <fieldset>
        <legend>{t("feedback_reason")}</legend>
        <div class={css.reasons}>
          {(refused ? OF_REFUSALS : OF_ANSWERS).map((each) => (
            <label key={each} class={css.reason}>
              <input type="radio" name="reason" checked={reason === each} onChange={() => choose(each)} />
              <span>{t(`reason_${each}`)}</span>
            </label>
          ))}
        </div>
      </fieldset>
      <TextArea
        label={t("feedback_comment")}
        rows={2}
        maxLength={MOST}
        value={comment}
        onInput={({ currentTarget }) => write(currentTarget.value)}
      />
      <div class={css.buttons}>
        <Button size="s" kind="quiet" onClick={onCancel}>
          {t("cancel")}
        </Button>
        <Button size="s" kind="primary" type="submit" busy={busy} disabled={!reason && !comment.trim()}>
          {t("feedback_send")}
        </Button>
      </div>
    </form>
  );
}
