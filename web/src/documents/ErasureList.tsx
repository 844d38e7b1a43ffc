import { useEvery, useLoaded } from "../api/loading.ts";
import { asProblem } from "../api/problem.ts";
import type { Erasure } from "../api/types.ts";
import { adviceOn } from "../app/advice.ts";
import { t } from "../i18n/documents.ts";
import { dayAndTime } from "../i18n/format.ts";
import { Button, IconButton } from "../ui/Button.tsx";
import { Icon } from "../ui/Icon.tsx";
import { Panel } from "../ui/Panel.tsx";
import { Spinner } from "../ui/Spinner.tsx";
import { saveFile } from "../ui/saveFile.ts";
import { readErasure } from "./calls.ts";
import css from "./ErasureList.module.css";
import { erasures, forgetErasure } from "./erasures.ts";

const LOOK_EVERY_S = 20;

/** The verified deletions that were begun in this tab: how far each is, and its receipt once nothing is left. */
export function ErasureList() {
  if (erasures.value.length === 0) return null;
  return (
    <Panel as="ul" label={t("erasures")}>
      {erasures.value.map((id) => (
        <One key={id} erasure_id={id} />
      ))}
    </Panel>
  );
}

function One({ erasure_id }: { erasure_id: string }) {
  const { value, error, reload } = useLoaded((stop) => readErasure(erasure_id, stop), [erasure_id]);
  const isErased = value?.state === "erased";
  useEvery(LOOK_EVERY_S, () => {
    if (!isErased) reload();
  });
  return (
    <li class={css.row}>
      <span class={css.mark}>{isErased ? <Icon name="check" size={18} /> : <Spinner size={18} />}</span>
      <div class={css.words} role="status">
        <p>{value ? wordsOn(value) : error ? adviceOn(asProblem(error)) : t("erasure_loading")}</p>
        {value && <p class={css.soft}>{t("erasure_begun", dayAndTime(value.begun_at))}</p>}
      </div>
      {isErased && (
        <Button size="s" icon="download" onClick={() => save(value)}>
          {t("erasure_receipt")}
        </Button>
      )}
      {(isErased || error !== null) && (
        <IconButton size="s" icon="close" label={t("erasure_hide")} onClick={() => forgetErasure(erasure_id)} />
      )}
    </li>
  );
}

function wordsOn({ state, receipt }: Erasure): string {
  return state === "erased" ? t("erasure_erased", receipt?.stores.length ?? 0) : t("erasure_running");
}

function save({ erasure_id, receipt }: Erasure): void {
  const file = new Blob([JSON.stringify(receipt, null, 2)], { type: "application/json" });
  saveFile(file, `erasure-${erasure_id}.json`);
}
