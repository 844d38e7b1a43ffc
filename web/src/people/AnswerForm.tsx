import { useId, useState } from "preact/hooks";
import { asProblem } from "../api/problem.ts";
import type { Handoff } from "../api/types.ts";
import { draft } from "../app/drafts.ts";
import { can } from "../app/session.ts";
import { t } from "../i18n/people.ts";
import { Button } from "../ui/Button.tsx";
import { ErrorNotice } from "../ui/ErrorNotice.tsx";
import { TextArea } from "../ui/Field.tsx";
import { toast } from "../ui/toast.ts";
import { resolveHandoff } from "./calls.ts";
import css from "./HandoffView.module.css";
import shared from "./people.module.css";

const LONGEST = 8_000;

/** The agent's answer. What is typed stays for as long as the tab, whatever happens in between. */
export function AnswerForm(props: { handoff: Handoff; onAnswered: (now: Handoff) => void; onConflict: () => void }) {
  const { handoff_id } = props.handoff;
  const text = draft(`handoff.${handoff_id}`);
  const [publish, setPublish] = useState(false);
  const [busy, setBusy] = useState(false);
  const [missing, setMissing] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const id = useId();
  const submit = async () => {
    const answer = text.value.trim();
    setMissing(!answer);
    if (!answer) return;
    setBusy(true);
    setError(null);
    try {
      props.onAnswered(await resolveHandoff(handoff_id, answer, publish));
      text.value = "";
      toast(t("answered"));
    } catch (caught) {
      setError(caught);
      if (asProblem(caught).status === 409) props.onConflict();
    }
    setBusy(false);
  };
  return (
    <form
      class={shared.stack}
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <TextArea
        label={t("your_answer")}
        hint={t("your_answer_hint")}
        error={missing ? t("answer_missing") : undefined}
        rows={8}
        maxLength={LONGEST}
        value={text.value}
        onInput={(event) => {
          text.value = event.currentTarget.value;
        }}
      />
      <div class={css.check}>
        <input
          id={id}
          type="checkbox"
          checked={publish}
          aria-describedby={`${id}-hint`}
          onChange={(event) => setPublish(event.currentTarget.checked)}
        />
        <div>
          <label for={id}>{t("publish_too")}</label>
          <p id={`${id}-hint`} class={shared.soft}>
            {t(can("admin", "editor") ? "publish_too_hint_admin" : "publish_too_hint")}
          </p>
        </div>
      </div>
      {error !== null && <ErrorNotice error={error} />}
      <div class={shared.buttons}>
        <Button kind="primary" type="submit" busy={busy}>
          {t("send_answer")}
        </Button>
      </div>
    </form>
  );
}
