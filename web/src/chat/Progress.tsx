import { useEffect, useState } from "preact/hooks";
import { t } from "../i18n/chat.ts";
import { Spinner } from "../ui/Spinner.tsx";
import css from "./Progress.module.css";
import type { Turn } from "./turn.ts";

const PAUSE_MS = 1_200; // nothing for so long: the next statement is being checked
const SLOW_MS = 10_000;

/** What is being done for an answer, in words. */
export function Progress({ turn }: { turn: Turn }) {
  const quiet = useQuiet(turn);
  return (
    <p class={css.progress}>
      <Spinner size={16} />
      <span>{words(turn, quiet)} …</span>
    </p>
  );
}

function words(turn: Turn, quiet_ms: number): string {
  if (quiet_ms >= SLOW_MS) return t("progress_slow");
  switch (turn.phase) {
    case "searching":
      return t("progress_searching");
    case "reading":
      return t("progress_reading", turn.sources.length, new Set(turn.sources.map((each) => each.document_id)).size);
    default:
      return quiet_ms >= PAUSE_MS ? t("progress_checking") : t("progress_writing");
  }
}

/** For how long nothing has come, as one of the two limits. */
function useQuiet(turn: Turn): number {
  const [quiet, setQuiet] = useState(0);
  useEffect(() => {
    setQuiet(0);
    const timers = [PAUSE_MS, SLOW_MS].map((limit) => setTimeout(() => setQuiet(limit), limit));
    return () => timers.forEach(clearTimeout);
  }, [turn]);
  return quiet;
}
