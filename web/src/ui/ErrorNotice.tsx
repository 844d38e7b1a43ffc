import { asProblem } from "../api/problem.ts";
import { adviceOn } from "../app/advice.ts";
import { t } from "../i18n/frame.ts";
import { Button } from "./Button.tsx";
import css from "./ErrorNotice.module.css";
import { Icon } from "./Icon.tsx";

/** An error where the content would be: what happened, what to do, and `retry` where that may help. */
export function ErrorNotice({ error, retry, title }: { error: unknown; retry?: () => void; title?: string }) {
  const problem = asProblem(error);
  return (
    <div class={css.notice} role="alert">
      <Icon name="alert" />
      <div class={css.words}>
        <p class={css.title}>{title ?? t(problem.status === 403 ? "not_yours" : "went_wrong")}</p>
        <p>{adviceOn(problem)}</p>
        {problem.request_id && <p class={css.id}>{t("request_id", problem.request_id)}</p>}
      </div>
      {retry && problem.passing && (
        <Button size="s" icon="retry" onClick={retry}>
          {t("try_again")}
        </Button>
      )}
    </div>
  );
}
