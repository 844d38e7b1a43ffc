import type { ComponentChildren, Ref, TargetedEvent, TextareaHTMLAttributes } from "preact";
import { useId } from "preact/hooks";
import { classes } from "./classes.ts";
import css from "./Field.module.css";

interface FieldProps {
  label: string;
  /** The label is for screen readers only; something else says it to the eye. */
  hideLabel?: boolean;
  hint?: ComponentChildren;
  /** What is wrong with it. */
  error?: string | undefined;
}

type Attributes = { id: string; "aria-describedby": string | undefined; "aria-invalid": true | undefined };

/** A labelled control, with its hint and its error tied to it. */
export function Field(props: FieldProps & { children: (attributes: Attributes) => ComponentChildren }) {
  const id = useId();
  const about = [props.hint && `${id}-hint`, props.error && `${id}-error`].filter(Boolean).join(" ");
  return (
    <div class={css.field}>
      <label for={id} class={props.hideLabel ? "visually-hidden" : css.label}>
        {props.label}
      </label>
      {props.children({ id, "aria-describedby": about || undefined, "aria-invalid": props.error ? true : undefined })}
      {props.hint && (
        <p id={`${id}-hint`} class={css.hint}>
          {props.hint}
        </p>
      )}
      {props.error && (
        <p id={`${id}-error`} class={css.error}>
          {props.error}
        </p>
      )}
    </div>
  );
}

interface Input {
  value: string;
  onInput: (event: TargetedEvent<HTMLInputElement>) => void;
  placeholder?: string;
  maxLength?: number;
  required?: boolean;
  disabled?: boolean;
  /** It is shown as dots, and not offered again. */
  secret?: boolean;
  inputRef?: Ref<HTMLInputElement>;
}

/** A line of text. For other kinds of input take `Field`. */
export function TextField({ label, hideLabel, hint, error, secret, inputRef, ...rest }: FieldProps & Input) {
  return (
    <Field label={label} hideLabel={hideLabel ?? false} hint={hint} error={error}>
      {(attributes) => {
        const all = { ...rest, ...attributes, class: css.input };
        if (secret) return <input type="password" autocomplete="off" {...all} ref={inputRef} />;
        return <input type="text" {...all} ref={inputRef} />;
      }}
    </Field>
  );
}

type Area = Omit<TextareaHTMLAttributes<HTMLTextAreaElement>, "label" | "class">;

export function TextArea({ label, hideLabel, hint, error, ...rest }: FieldProps & Area) {
  return (
    <Field label={label} hideLabel={hideLabel ?? false} hint={hint} error={error}>
      {(attributes) => <textarea rows={4} {...rest} {...attributes} class={classes(css.input, css.area)} />}
    </Field>
  );
}
