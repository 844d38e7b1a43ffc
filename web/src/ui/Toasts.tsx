import { useEffect, useState } from "preact/hooks";
import { t } from "../i18n/frame.ts";
import { Button, IconButton } from "./Button.tsx";
import css from "./Toasts.module.css";
import { dismiss, SHOWN_MS, type Toast, toasts, undo } from "./toast.ts";

/** The messages of `toast`, at the foot of the page. They wait while one points at them. */
export function Toasts() {
  return (
    <div class={css.toasts} role="status" aria-live="polite">
      {toasts.value.map((each) => (
        <One key={each.id} toast={each} />
      ))}
    </div>
  );
}

function One({ toast }: { toast: Toast }) {
  const [held, hold] = useState(false);
  useEffect(() => {
    if (held) return;
    const timer = setTimeout(() => dismiss(toast.id), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [toast.id, held]);
  const end = (how: (id: number) => void) => {
    how(toast.id);
    document.querySelector("main")?.focus({ preventScroll: true }); // the button goes, and the focus would with it
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: pointing at it only keeps it on the page
    <div
      class={css.toast}
      onMouseEnter={() => hold(true)}
      onMouseLeave={() => hold(false)}
      onFocusCapture={() => hold(true)}
      onBlurCapture={() => hold(false)}
    >
      <span class={css.text}>{toast.text}</span>
      {toast.undo && (
        <Button size="s" kind="quiet" class={css.undo} onClick={() => end(undo)}>
          {t("undo")}
        </Button>
      )}
      <IconButton size="s" icon="close" label={t("close")} class={css.close} onClick={() => end(dismiss)} />
    </div>
  );
}
