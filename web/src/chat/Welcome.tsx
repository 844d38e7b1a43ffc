import { useEffect, useState } from "preact/hooks";
import { href } from "../app/router.ts";
import { can } from "../app/session.ts";
import { t } from "../i18n/chat.ts";
import { Icon } from "../ui/Icon.tsx";
import { exampleQuestions } from "./examples.ts";
import { type ScopedDocument, scope } from "./scope.ts";
import css from "./Welcome.module.css";

/** Before the first question: what this is, and three questions about the documents that it would be answered from. */
export function Welcome({ onAsk }: { onAsk: (question: string) => void }) {
  const limited = scope.value;
  const { examples, failed } = useExamples(limited);
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
          {examples?.length === 0 && limited.length === 0 && <NoDocuments />}
        </section>
      )}
    </div>
  );
}

function useExamples(limited: readonly ScopedDocument[]) {
  const [examples, setExamples] = useState<readonly string[] | null>(null);
  const [failed, setFailed] = useState(false);
  useEffect(() => {
    let mine = true;
    setExamples(null);
    setFailed(false);
    exampleQuestions(limited).then(
      (found) => mine && setExamples(found),
      () => mine && setFailed(true), // the box works without them
    );
    return () => {
      mine = false;
    };
  }, [limited]);
  return { examples, failed };
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
