import type { ComponentType, JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { ApiProblem } from "../api/problem.ts";
import { ErrorNotice } from "../ui/ErrorNotice.tsx";
import { Skeleton } from "../ui/Skeleton.tsx";
import { reachable, tryAgain } from "./connection.ts";
import css from "./Lazy.module.css";

type Module<Props> = { default: ComponentType<Props> };

/** A component whose code is fetched when it is first shown. */
export function lazy<Props extends object>(load: () => Promise<Module<Props>>): ComponentType<Props> {
  let loaded: ComponentType<Props> | null = null;
  return function Lazy(props: Props): JSX.Element {
    const [View, setView] = useState<ComponentType<Props> | null>(() => loaded);
    const [failed, fail] = useState(false);
    useEffect(() => {
      if (View) return;
      load().then(
        (module) => {
          loaded = module.default;
          setView(() => module.default);
        },
        () => fail(true),
      );
    }, [View]);
    if (View) return <View {...props} />;
    return (
      <div class={css.waiting}>
        {failed ? <ErrorNotice error={MISSING} retry={() => void loadPage()} /> : <Skeleton lines={5} />}
      </div>
    );
  };
}

const MISSING = new ApiProblem(0, { code: "part_missing" });

/** Load the page anew, unless there is no connection: browsers do not fetch a module again that they could not fetch. */
async function loadPage(): Promise<void> {
  await tryAgain();
  if (reachable.value) location.reload();
}
