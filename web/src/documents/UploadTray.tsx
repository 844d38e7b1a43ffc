import { useRef } from "preact/hooks";
import { t } from "../i18n/documents.ts";
import { bytes, dayAndTime } from "../i18n/format.ts";
import { Button, IconButton } from "../ui/Button.tsx";
import { classes } from "../ui/classes.ts";
import { Icon } from "../ui/Icon.tsx";
import { Scroller } from "../ui/Scroller.tsx";
import css from "./UploadTray.module.css";
import { outcome, uploads } from "./uploading.ts";
import type { Choice, Failure, Refusal, Upload } from "./uploads.ts";

/** The uploads, or those `of` one name: each with its progress, what went wrong in words, and a way to stop it or try again. */
export function UploadTray({ of: name }: { of?: string }) {
  const heading = useRef<HTMLHeadingElement>(null);
  const all = uploads.all.value.filter((each) => name === undefined || each.name === name);
  if (all.length === 0) return null;
  const kinds = all.map((each) => each.state.value.kind);
  const asking = all.filter((each) => each.state.value.kind === "asking");
  const over = kinds.filter((kind) => kind !== "waiting" && kind !== "sending").length - asking.length;
  const busy = over < all.length;
  const failed = all.filter((each) => each.state.value.kind === "failed");
  // What is left to do stands first: decisions, and what failed once nothing moves any more.
  const first = busy ? isAsking : isBad;
  const rows = all.toSorted((one, other) => Number(first(other)) - Number(first(one)));
  // A button that goes with what it does leaves the focus here.
  const stay = () => heading.current?.focus();
  const cancelAll = () => {
    stay();
    uploads.cancelAll();
  };
  const choose = (upload: Upload, choice: Choice) => {
    stay();
    uploads.choose(upload, choice);
  };
  const chooseAll = (choice: Choice) => {
    stay();
    uploads.chooseAll(choice);
  };
  const retryAll = () => {
    stay();
    for (const each of failed) void uploads.retry(each);
  };
  return (
    <section class={css.tray}>
      <header class={css.head}>
        <h2 ref={heading} tabIndex={-1} class={css.title} aria-live="polite">
          {asking.length > 0 ? t("asks", asking.length) : busy ? t("uploading", over, all.length) : outcome(all)}
        </h2>
        {busy ? (
          <span class={css.over}>
            {asking.length > 1 && (
              <>
                <Button size="s" onClick={() => chooseAll("replace")}>
                  {t("replace_all")}
                </Button>
                <Button size="s" onClick={() => chooseAll("beside")}>
                  {t("keep_both_all")}
                </Button>
              </>
            )}
            <Button size="s" kind="quiet" onClick={cancelAll}>
              {t("cancel_all")}
            </Button>
          </span>
        ) : (
          <span class={css.over}>
            {failed.length > 1 && (
              <Button size="s" icon="retry" onClick={retryAll}>
                {t("retry_all")}
              </Button>
            )}
            <Button size="s" kind="quiet" onClick={() => uploads.clear()}>
              {t("clear")}
            </Button>
          </span>
        )}
      </header>
      <Scroller label={t("uploads")} class={css.list}>
        <ul>
          {rows.map((each) => (
            <Row key={each.id} upload={each} choose={(choice) => choose(each, choice)} />
          ))}
        </ul>
      </Scroller>
    </section>
  );
}

function Row({ upload, choose }: { upload: Upload; choose: (choice: Choice) => void }) {
  const state = upload.state.value;
  const bad = isBad(upload);
  const asking = state.kind === "asking";
  const stoppable = state.kind === "waiting" || state.kind === "sending" || asking;
  const again = state.kind === "failed" || state.kind === "cancelled";
  return (
    <li class={classes(css.row, bad && css.bad, asking && css.asking)}>
      <span class={css.mark}>
        <Icon
          name={bad || asking ? "alert" : state.kind === "stored" || state.kind === "unchanged" ? "check" : "document"}
          size={18}
        />
      </span>
      <div class={css.words}>
        <p class={css.name}>
          {upload.name} <span class={css.size}>{bytes(upload.file.size)}</span>
        </p>
        {state.kind === "sending" ? (
          <div class={css.running}>
            <progress
              class={css.bar}
              max={upload.file.size}
              value={state.sent}
              aria-label={t("progress", upload.name)}
            />
            <span class={css.share}>{shareOf(state.sent, upload.file.size)}</span>
          </div>
        ) : (
          <p class={css.state}>
            {wordsOf(upload)}
            {state.kind === "stored" && state.why && <span lang="en">. {state.why}</span>}
          </p>
        )}
      </div>
      {asking && (
        <span class={css.choices}>
          <Button size="s" aria-label={t("replace_one", upload.name)} onClick={() => choose("replace")}>
            {t("replace")}
          </Button>
          <Button size="s" aria-label={t("keep_both_one", upload.name)} onClick={() => choose("beside")}>
            {t("keep_both")}
          </Button>
        </span>
      )}
      {stoppable && (
        <IconButton size="s" icon="close" label={t("cancel_one", upload.name)} onClick={() => uploads.cancel(upload)} />
      )}
      {again && (
        <Button
          size="s"
          icon="retry"
          aria-label={t("retry_one", upload.name)}
          onClick={() => void uploads.retry(upload)}
        >
          {t("retry")}
        </Button>
      )}
    </li>
  );
}

function isAsking({ state }: Upload): boolean {
  return state.value.kind === "asking";
}

function isBad({ state }: Upload): boolean {
  const { value } = state;
  return value.kind === "refused" || value.kind === "failed" || (value.kind === "stored" && !!value.unreadable);
}

function shareOf(sent: number, size: number): string {
  return sent >= size ? t("finishing") : t("sending", Math.floor((100 * sent) / size));
}

function wordsOf(upload: Upload): string {
  const state = upload.state.value;
  switch (state.kind) {
    case "waiting":
      return t("waiting");
    case "sending":
      return "";
    case "asking":
      if (!state.former) return t("asks_unknown");
      return t(
        "asks_known",
        state.former.page_count,
        bytes(state.former.size_bytes),
        dayAndTime(state.former.updated_at),
      );
    case "unchanged":
      return t("unchanged");
    case "stored":
      if (state.unreadable) return t("stored_unreadable", t(`status_${state.unreadable}`));
      return state.replaced ? t("stored_replaced") : t("stored");
    case "cancelled":
      return t("cancelled");
    case "refused":
      return refusalInWords(state.refusal);
    case "failed":
      return failureInWords(state.failure);
  }
}

function refusalInWords(refusal: Refusal): string {
  switch (refusal.why) {
    case "too_large":
      return t("too_large", bytes(refusal.max_bytes));
    case "said":
      return refusal.detail || t("announce_failed");
    default:
      return t(refusal.why);
  }
}

function failureInWords(failure: Failure): string {
  switch (failure.why) {
    case "network":
      return t("network");
    case "said":
      return failure.detail || t("announce_failed");
    case "storage":
      return failure.code === "RequestTimeout" ? t("storage_slow") : t("storage", failure.code);
  }
}
