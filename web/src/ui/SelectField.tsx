import { classes } from "./classes.ts";
import field from "./Field.module.css";
import { Field } from "./Field.tsx";
import { Icon } from "./Icon.tsx";
import css from "./SelectField.module.css";

/** A labelled choice of one among several, in the browser's own list. */
export function SelectField(props: {
  label: string;
  hideLabel?: boolean;
  hint?: string;
  value: string;
  options: readonly { value: string; label: string }[];
  onChange: (value: string) => void;
}) {
  return (
    <Field label={props.label} hideLabel={props.hideLabel ?? false} hint={props.hint}>
      {(attributes) => (
        <span class={css.box}>
          <select
            {...attributes}
            class={classes(field.input, css.select)}
            value={props.value}
            onChange={(event) => props.onChange(event.currentTarget.value)}
          >
            {props.options.map((each) => (
              <option key={each.value} value={each.value}>
                {each.label}
              </option>
            ))}
          </select>
          <span class={css.icon}>
            <Icon name="chevronDown" size={16} />
          </span>
        </span>
      )}
    </Field>
  );
}
