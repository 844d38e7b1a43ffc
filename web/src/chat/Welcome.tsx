import { useEffect, useState } from "preact/hooks";
import { href } from "../app/router.ts";
import { can } from "../app/session.ts";
import { t } from "../i18n/chat.ts";
import { Icon } from "../ui/Icon.tsx";
import { exampleQuestions } from "./examples.ts";
import css from "./Welcome.module.css";

/** Before the first question: what this is, and three questions about the documents at hand. */
export function Welcome({ onAsk }: { onAsk: (question: string) => void }) {
  const [examples, setExamples] = useState<readonly string[] | null>(null);
  const [failed, setFailed] = useState(false);
  useEffect(() => {
    exampleQuestions().then(setExamples, () => setFailed(true)); // the box works without them
  }, []);
  return (
    <div class={css.welcome}>
      <h1>{t("welcome")}</h1>
      <p>{t("welcome_text")}</p>
      {!failed && (
        <section class={css.examples} aria-label={t("examples")} aria-busy={examples === null}>
          {examples === null && [0, 1, 2].map((place) => <div key={place} class={css.waiting} />)}
          {examples?.map((question) => (
            <button key={question} type="button" class={css.example} dir="auto" onClick={() => onAsk(question)}>
              <span>{question}</span>
              <Icon name="chevronRight" size={16} />
            </button>
          ))}
          {examples?.length === 0 && <NoDocuments />}
        </section>
      )}
    </div>
  );
}

function NoDocuments() {
  return (
    <div class={css.nothing}>
      <h2>{t("no_documents")}</h2>
      <p>{t("no_documents_text")}</p>
      {can("editor", "admin") ? (
        <a href={href({ name: "documents" })}>{t("upload")}</a>
      ) : (
        <p>{t("no_documents_reader")}</p>
      )}
    </div>
  );
}
