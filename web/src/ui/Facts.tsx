import { classes } from "./classes.ts";
import css from "./Facts.module.css";

/** Names and their values, one below the other; what has no value is left out. `small` is for what stands aside. */
export function Facts({ facts, small }: { facts: readonly (readonly [string, string])[]; small?: boolean }) {
  return (
    <dl class={classes(css.facts, small && css.small)}>
      {facts
        .filter(([, value]) => value)
        .map(([name, value]) => (
          <div key={name} class={css.fact}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}
