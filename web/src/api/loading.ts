import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { isAbort } from "./problem.ts";

export interface Loaded<T> {
  /** Undefined until it is there. It stays while it is read anew. */
  value: T | undefined;
  error: unknown;
  loading: boolean;
  reload(): void;
  /** Put another value in its place, as after a save. */
  put(value: T): void;
}

/** Read something when the view is shown, and anew when one of `about` changes. */
export function useLoaded<T>(read: (stop: AbortSignal) => Promise<T>, about: readonly unknown[]): Loaded<T> {
  const [state, setState] = useState<{ value: T | undefined; error: unknown; loading: boolean }>({
    value: undefined,
    error: null,
    loading: true,
  });
  const reading = useRef<AbortController | null>(null);
  const latest = useRef(read);
  latest.current = read;
  const reload = useCallback(() => {
    reading.current?.abort();
    const mine = new AbortController();
    reading.current = mine;
    setState((before) => ({ ...before, error: null, loading: true }));
    latest.current(mine.signal).then(
      (value) => reading.current === mine && setState({ value, error: null, loading: false }),
      (error: unknown) => {
        if (reading.current !== mine || isAbort(error)) return;
        setState((before) => ({ ...before, error, loading: false }));
      },
    );
  }, []);
  useEffect(() => {
    reload();
    return () => reading.current?.abort();
  }, about);
  const put = useCallback((value: T) => setState({ value, error: null, loading: false }), []);
  return { ...state, reload, put };
}

/** Something that is done when one asks for it: whether it is going on, and why it failed, if it did. */
export function useAction(): { busy: boolean; error: unknown; run: (act: () => Promise<unknown>) => Promise<void> } {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const run = async (act: () => Promise<unknown>) => {
    setBusy(true);
    setError(null);
    try {
      await act();
    } catch (caught) {
      setError(caught);
    }
    setBusy(false);
  };
  return { busy, error, run };
}

/** Do something again and again while the page is looked at, until the view is left. */
export function useEvery(seconds: number, act: () => void): void {
  const latest = useRef(act);
  latest.current = act;
  useEffect(() => {
    const look = () => !document.hidden && latest.current();
    const timer = setInterval(look, seconds * 1000);
    document.addEventListener("visibilitychange", look);
    return () => {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", look);
    };
  }, [seconds]);
}
