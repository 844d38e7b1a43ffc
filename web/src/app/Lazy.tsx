import type { ComponentType, JSX } from "preact";
import { useCallback, useEffect, useState } from "preact/hooks";
import { ErrorNotice } from "../ui/ErrorNotice.tsx";
import { Skeleton } from "../ui/Skeleton.tsx";
import css from "./Lazy.module.css";

type Module<Props> = { default: ComponentType<Props> };

/** A component whose code is fetched when it is first shown. */
export function lazy<Props extends object>(load: () => Promise<Module<Props>>): ComponentType<Props> {
  let loaded: ComponentType<Props> | null = null;
  return function Lazy(props: Props): JSX.Element {
    const [View, setView] = useState<ComponentType<Props> | null>(() => loaded);
    const [error, setError] = useState<unknown>(null);
    const fetchIt = useCallback(() => {
      setError(null);
      load().then((module) => {
        loaded = module.default;
        setView(() => module.default);
      }, setError);
    }, []);
    useEffect(() => {
      if (!View) fetchIt();
    }, [View, fetchIt]);
    if (View) return <View {...props} />;
    return (
      <div class={css.waiting}>{error ? <ErrorNotice error={error} retry={fetchIt} /> : <Skeleton lines={5} />}</div>
    );
  };
}
