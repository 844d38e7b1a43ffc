import { useRef } from "preact/hooks";
import css from "./Tabs.module.css";

/** One of a few kinds to show, in a row. The arrow keys go from one to the next. */
export function Tabs<Value extends string>(props: {
  label: string;
  value: Value;
  options: readonly { value: Value; label: string }[];
  onChange: (value: Value) => void;
}) {
  const row = useRef<HTMLDivElement>(null);
  const { options, value } = props;
  const move = (event: KeyboardEvent) => {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (step === 0) return;
    event.preventDefault();
    const at = options.findIndex((each) => each.value === value);
    const to = (at + step + options.length) % options.length;
    const next = options[to];
    if (!next) return;
    props.onChange(next.value);
    row.current?.querySelectorAll("button")[to]?.focus();
  };
  return (
    <div class={css.tabs} role="radiogroup" aria-label={props.label} ref={row} onKeyDown={move}>
      {options.map((each) => (
        // biome-ignore lint/a11y/useSemanticElements: a button keeps its look, and the group its keys
        <button
          key={each.value}
          type="button"
          role="radio"
          aria-checked={each.value === value}
          tabIndex={each.value === value ? 0 : -1}
          class={css.tab}
          onClick={() => props.onChange(each.value)}
        >
          {each.label}
        </button>
      ))}
    </div>
  );
}
