import { useState } from "preact/hooks";
import { useAction } from "../api/loading.ts";
import type { Handoff } from "../api/types.ts";
import { t } from "../i18n/people.ts";
import { Button } from "../ui/Button.tsx";
import { Dialog } from "../ui/Dialog.tsx";
import { ErrorNotice } from "../ui/ErrorNotice.tsx";
import { TextArea, TextField } from "../ui/Field.tsx";
import { toast } from "../ui/toast.ts";
import { publishHandoff } from "./calls.ts";
import { LANGUAGE_TAG } from "./faqForm.ts";
import shared from "./people.module.css";

/** Makes an answer one of the documents, in other words if the editor likes. */
export function PublishDialog(props: { handoff: Handoff; onPublished: (now: Handoff) => void; onClose: () => void }) {
  const { handoff } = props;
  const [question, setQuestion] = useState(handoff.question);
  const [answer, setAnswer] = useState(handoff.answer);
  const [language, setLanguage] = useState("");
  const { busy, error, run } = useAction();
  const wrong = { question: !question.trim(), answer: !answer.trim(), language: !LANGUAGE_TAG.test(language) };
  const publish = async () => {
    const body = { question: question.trim(), answer: answer.trim(), language };
    props.onPublished(await publishHandoff(handoff.handoff_id, body));
    toast(t("publish_done"));
    props.onClose();
  };
  return (
    <Dialog
      wide
      title={t("publish_title")}
      onClose={props.onClose}
      actions={
        <>
          <Button onClick={props.onClose}>{t("cancel")}</Button>
          <Button
            kind="primary"
            type="submit"
            form="publish"
            busy={busy}
            disabled={wrong.question || wrong.answer || wrong.language}
          >
            {t("publish_now")}
          </Button>
        </>
      }
    >
      <p class={shared.soft}>{t("publish_text")}</p>
      <form
        id="publish"
        class={shared.stack}
        onSubmit={(event) => {
          event.preventDefault();
          void run(publish);
        }}
      >
        <TextArea
          label={t("question")}
          rows={2}
          maxLength={1_000}
          error={wrong.question ? t("question_missing") : undefined}
          value={question}
          onInput={(event) => setQuestion(event.currentTarget.value)}
        />
        <TextArea
          label={t("answer")}
          rows={8}
          maxLength={8_000}
          error={wrong.answer ? t("answer_missing") : undefined}
          value={answer}
          onInput={(event) => setAnswer(event.currentTarget.value)}
        />
        <TextField
          label={t("language")}
          hint={t("language_hint")}
          error={wrong.language ? t("language_wrong") : undefined}
          value={language}
          onInput={(event) => setLanguage(event.currentTarget.value.trim())}
        />
      </form>
      {error !== null && <ErrorNotice error={error} />}
    </Dialog>
  );
}
