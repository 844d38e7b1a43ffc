import css from "./Field.module.css";
import { Field } from "./Field.tsx";

/** A day, such as 2026-11-23, in the browser's own calendar; empty if none is chosen. */
export function DateField(props: {
  label: string;
  hint?: string;
  error?: string | undefined;
  value: string;
  min?: string;
  max?: string;
  onInput: (day: string) => void;
}) {
  return (
    <Field label={props.label} hint={props.hint} error={props.error}>
      {(attributes) => (
        <input
          type="date"
          {...attributes}
          class={css.input}
          value={props.value}
          min={props.min}
          max={props.max}
          onInput={(event) => props.onInput(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}
