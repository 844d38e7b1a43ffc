import type { ButtonHTMLAttributes, ComponentChildren, Ref } from "preact";
import css from "./Button.module.css";
import { classes } from "./classes.ts";
import { Icon, type IconName } from "./Icon.tsx";
import { Spinner } from "./Spinner.tsx";

export interface ButtonProps extends Omit<ButtonHTMLAttributes<HTMLButtonElement>, "icon" | "class" | "size"> {
  /** One `primary` button a view: what one came for. */
  kind?: "primary" | "secondary" | "quiet" | "danger";
  size?: "s" | "m";
  icon?: IconName;
  /** Shows that it is being done, and takes no second click. */
  busy?: boolean;
  class?: string | undefined;
  buttonRef?: Ref<HTMLButtonElement>;
  children: ComponentChildren;
}

export function Button({ kind = "secondary", size = "m", icon, busy, buttonRef, children, ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      ref={buttonRef}
      class={classes(css.button, css[kind], css[size], rest.class)}
      aria-busy={busy || undefined}
      disabled={busy || rest.disabled}
    >
      {busy ? <Spinner size={16} /> : icon && <Icon name={icon} size={size === "s" ? 16 : 18} />}
      <span>{children}</span>
    </button>
  );
}

export interface IconButtonProps extends Omit<ButtonHTMLAttributes<HTMLButtonElement>, "icon" | "class" | "size"> {
  icon: IconName;
  /** What it does, in words: read by screen readers and shown on hover. */
  label: string;
  size?: "s" | "m";
  pressed?: boolean;
  class?: string | undefined;
  buttonRef?: Ref<HTMLButtonElement>;
}

export function IconButton({ icon, label, size = "m", pressed, buttonRef, ...rest }: IconButtonProps) {
  return (
    <button
      type="button"
      title={label}
      {...rest}
      ref={buttonRef}
      class={classes(css.icon, css[size], rest.class)}
      aria-label={label}
      aria-pressed={pressed}
    >
      <Icon name={icon} size={size === "s" ? 16 : 18} />
    </button>
  );
}
