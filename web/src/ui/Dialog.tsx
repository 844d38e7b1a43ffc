import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import { t } from "../i18n/frame.ts";
import { IconButton } from "./Button.tsx";
import { classes } from "./classes.ts";
import css from "./Dialog.module.css";

export interface DialogProps {
  title: string;
  /** Called by Esc, the cross and a click outside. Without it the dialog stays until its own buttons end it. */
  onClose?: () => void;
  wide?: boolean;
  children: ComponentChildren;
  /** The buttons, the main one last. */
  actions?: ComponentChildren;
}

/** A modal dialog, open for as long as it is rendered; the focus goes back to where it came from. */
export function Dialog({ title, onClose, wide, children, actions }: DialogProps) {
  const ref = useRef<HTMLDialogElement>(null);
  const pressed = useRef<EventTarget | null>(null);
  const id = useId();
  useEffect(() => {
    const before = document.activeElement;
    ref.current?.showModal();
    firstIn(ref.current)?.focus({ preventScroll: true }); // in a low window, too, one begins at the title
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  const cancel = (event: Event) => {
    event.preventDefault();
    onClose?.();
  };
  // A browser closes it at the second Esc, whatever `cancel` says.
  const closed = () => (onClose ? onClose() : ref.current?.showModal());
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the key for it is Esc, which is `cancel`
    <dialog
      ref={ref}
      class={classes(css.dialog, wide && css.wide)}
      aria-labelledby={id}
      onCancel={cancel}
      onClose={closed}
      onPointerDown={(event) => {
        pressed.current = event.target;
      }}
      onClick={(event) => {
        // Whoever selects text and lets go outside has not clicked outside.
        if (event.target === ref.current && pressed.current === ref.current) onClose?.();
      }}
    >
      <div class={css.inside}>
        <header class={css.head}>
          <h2 id={id}>{title}</h2>
          {onClose && <IconButton icon="close" label={t("close")} onClick={onClose} />}
        </header>
        <div class={css.body}>{children}</div>
        {actions && <footer class={css.actions}>{actions}</footer>}
      </div>
    </dialog>
  );
}

/** What has the focus first: the first field, else the main button. */
function firstIn(dialog: HTMLElement | null): HTMLElement | null | undefined {
  return dialog?.querySelector<HTMLElement>("input, textarea, select") ?? dialog?.querySelector("footer > :last-child");
}
