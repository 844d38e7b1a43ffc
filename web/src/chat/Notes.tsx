import type { ComponentChildren } from "preact";
import { t } from "../i18n/chat.ts";
import { classes } from "../ui/classes.ts";
import { Icon, type IconName } from "../ui/Icon.tsx";
import css from "./Notes.module.css";
import { plain } from "./plain.ts";
import type { Turn } from "./turn.ts";

/** What the service marks about an answer, in words: how well it is supported, what was left out, how it was made. */
export function Notes({ turn }: { turn: Turn }) {
  return (
    <>
      {lines(turn).map(({ icon, tone, text }) => (
        <Note key={text} icon={icon} tone={tone}>
          {text}
        </Note>
      ))}
    </>
  );
}

type Tone = "plain" | "good" | "warn";

export function Note({ icon, tone = "plain", children }: { icon: IconName; tone?: Tone; children: ComponentChildren }) {
  return (
    <p class={classes(css.note, css[tone])}>
      <Icon name={icon} size={15} />
      <span>{children}</span>
    </p>
  );
}

interface Line {
  icon: IconName;
  tone: Tone;
  text: string;
}

/** Why an answer may not be one to the question, in words; null if nothing speaks against it. */
export function doubtOf({ warnings, mode, band }: Turn): string | null {
  if (warnings.includes("second_look")) return t("warn_second_look");
  if (warnings.includes("threshold_relaxed")) return t("warn_relaxed");
  return band === "low" && (mode === "generated" || mode === "extractive") ? t("unsure") : null;
}

// That statements are in their sources is no approval of the answer: a green tick only where it is sure as well.
const SURE = { icon: "check", tone: "good" } as const;
const UNJUDGED = { icon: "quote", tone: "plain" } as const;

function lines(turn: Turn): Line[] {
  const { support } = turn;
  const doubt = doubtOf(turn);
  const all: Line[] = doubt ? [{ icon: "alert", tone: "warn", text: doubt }] : [];
  const shown = support ? support.confirmed + support.unconfirmed : 0;
  if (support && shown > 0) {
    all.push(
      support.unconfirmed > 0
        ? { icon: "help", tone: "warn", text: t("support_some", support.unconfirmed, shown) }
        : { ...(turn.band === "high" && !doubt ? SURE : UNJUDGED), text: t("support_all", shown) },
    );
  }
  if (support && support.dropped > 0) all.push({ icon: "minus", tone: "warn", text: t("dropped", support.dropped) });
  if (turn.dropped_citations > 0) {
    all.push({ icon: "minus", tone: "plain", text: t("dropped_citations", turn.dropped_citations) });
  }
  if (turn.mode === "extractive" && !turn.refusal) all.push({ icon: "quote", tone: "plain", text: t("extractive") });
  if (turn.cached) all.push({ icon: "retry", tone: "plain", text: t("cached") });
  if (turn.rewritten) all.push({ icon: "search", tone: "plain", text: t("rewritten", plain(turn.rewritten)) });
  if (turn.citations.some(({ state }) => state === "erased")) {
    all.push({ icon: "trash", tone: "warn", text: t("erased_some") });
  }
  return [...all, ...warningsOf(turn)];
}

// What a reader misses by each warning of the service; of the others nothing, or it is a doubt.
const SAID = {
  answer_cut_short: "warn_cut_short",
  answer_not_supported: "warn_not_supported",
  dense_search_unavailable: "warn_search",
  embeddings_unavailable: "warn_search",
  history_unavailable: "warn_history",
  hybrid_search_unavailable: "warn_search",
  model_unavailable: "warn_model",
  named_documents_unavailable: "warn_search",
  not_saved: "warn_not_saved",
  part_unavailable: "warn_part",
  search_unavailable: "warn_earlier",
  second_look_unavailable: "warn_search",
} as const;

function warningsOf({ warnings }: Turn): Line[] {
  const names = warnings.map((each) => each.replace(/_refused$/, "_unavailable"));
  const texts = new Set(names.flatMap((name) => (isSaid(name) ? [t(SAID[name])] : [])));
  return [...texts].map((text) => ({ icon: "alert" as const, tone: "warn" as const, text }));
}

function isSaid(name: string): name is keyof typeof SAID {
  return name in SAID;
}
