import { useId } from "preact/hooks";
import { classes } from "./classes.ts";
import field from "./Field.module.css";
import { Icon } from "./Icon.tsx";
import css from "./SearchField.module.css";

/** A box for words to look for; its label is its placeholder, too. */
export function SearchField(props: {
  label: string;
  value: string;
  maxLength?: number;
  onInput: (value: string) => void;
}) {
  const id = useId();
  return (
    <div class={css.box}>
      <label for={id} class="visually-hidden">
        {props.label}
      </label>
      <span class={css.icon}>
        <Icon name="search" />
      </span>
      <input
        id={id}
        type="search"
        class={classes(field.input, css.search)}
        placeholder={props.label}
        value={props.value}
        maxLength={props.maxLength}
        autocomplete="off"
        onInput={(event) => props.onInput(event.currentTarget.value)}
      />
    </div>
  );
}
