/** One question with its answer: what is known of it while it arrives, and afterwards. */

import { type ApiProblem, asProblem } from "../api/problem.ts";
import type { Answer, Citation, Claim, Feedback, Message, Source, StoredCitation, Support } from "../api/types.ts";
import type { AnswerEvent } from "./events.ts";
import type { ScopedDocument } from "./scope.ts";

/**
 * searching → reading (the passages are there) → writing → done; or `stopped` by the user, or `failed`.
 * A refusal is `done`: it is an answer.
 */
export type Phase = "searching" | "reading" | "writing" | "done" | "stopped" | "failed";

/** A citation; of a stored answer also whether the document is still the one that was quoted. */
export type Cited = Citation & Partial<Pick<StoredCitation, "state">>;

export interface Turn {
  /** Of this page only. */
  readonly key: string;
  /** Null before a person's answer, which comes later than the question. */
  readonly question: string | null;
  readonly scope: readonly ScopedDocument[];
  readonly phase: Phase;
  /** Who answers: the service, or a person who was asked. */
  readonly by: "service" | "person";
  readonly text: string;
  readonly citations: readonly Cited[];
  readonly claims: readonly Claim[];
  /** Passages that the service read; unknown of a stored answer. */
  readonly sources: readonly Source[];
  /** Of a refusal, what came nearest; unknown of a stored one. */
  readonly nearest: readonly Source[];
  readonly support: Support | null;
  readonly mode: Answer["mode"] | null;
  /** How sure the answer is, as far as that is known. */
  readonly band: Answer["band"];
  readonly refusal: Answer["refusal"];
  readonly handoff_offered: boolean;
  readonly cached: boolean;
  /** A stored answer that the reader may no longer see: a document that it was made from is not theirs to read. */
  readonly withheld: boolean;
  /** References of the model that were wrong and were removed. */
  readonly dropped_citations: number;
  readonly rewritten: string | null;
  readonly suggestions: readonly string[];
  readonly warnings: readonly string[];
  readonly message_id: string;
  readonly created_at: string | null;
  readonly feedback: Feedback | null;
  readonly problem: ApiProblem | null;
}

const BLANK: Omit<Turn, "key" | "question"> = {
  scope: [],
  phase: "searching",
  by: "service",
  text: "",
  citations: [],
  claims: [],
  sources: [],
  nearest: [],
  support: null,
  mode: null,
  band: "none",
  refusal: null,
  handoff_offered: false,
  cached: false,
  withheld: false,
  dropped_citations: 0,
  rewritten: null,
  suggestions: [],
  warnings: [],
  message_id: "",
  created_at: null,
  feedback: null,
  problem: null,
};

let made = 0;

export function newTurn(question: string | null, known: Partial<Turn> = {}): Turn {
  made += 1;
  return { ...BLANK, key: `turn-${made}`, question, ...known };
}

export function isRunning({ phase }: Turn): boolean {
  return phase === "searching" || phase === "reading" || phase === "writing";
}

/** The turn after an event. An event after the end changes nothing. */
export function after(turn: Turn, event: AnswerEvent): Turn {
  if (!isRunning(turn)) return turn;
  switch (event.name) {
    case "sources":
      return { ...turn, phase: "reading", sources: event.sources };
    case "citation":
      return { ...turn, citations: [...turn.citations.filter(({ n }) => n !== event.citation.n), event.citation] };
    case "delta":
      return { ...turn, phase: "writing", text: turn.text + event.text };
    case "support":
      return { ...turn, support: event.support, claims: event.claims };
    case "done":
      return answered(turn, event.answer);
    case "error":
      return failed(turn, event.problem);
  }
}

export function stopped(turn: Turn): Turn {
  return isRunning(turn) ? { ...turn, phase: "stopped" } : turn;
}

export function failed(turn: Turn, error: unknown): Turn {
  return isRunning(turn) ? { ...turn, phase: "failed", problem: asProblem(error) } : turn;
}

function answered(turn: Turn, answer: Answer): Turn {
  const { citations, claims, sources, nearest, support, mode, refusal, handoff_offered, cached } = answer;
  const { rewritten, suggestions, warnings, message_id, dropped_citations, band } = answer;
  return {
    ...turn,
    ...{
      phase: "done",
      text: answer.answer,
      citations,
      claims,
      sources,
      nearest,
      support,
      mode,
      refusal,
      handoff_offered,
    },
    ...{ cached, rewritten, suggestions, warnings, message_id, dropped_citations, band },
  };
}

/** The turns of stored messages, oldest first. */
export function turnsOf(messages: readonly Message[]): Turn[] {
  const turns: Turn[] = [];
  for (const message of messages) {
    const { message_id, content: text, citations, claims, feedback = null, created_at } = message;
    const last = turns.at(-1);
    if (message.role === "user") {
      turns.push(newTurn(text, { phase: "stopped", created_at }));
    } else if (message.role === "agent") {
      turns.push(newTurn(null, { phase: "done", by: "person", text, message_id, created_at }));
    } else {
      const stored = { phase: "done" as const, text, citations, claims, message_id, created_at, feedback };
      const { mode = null, refusal = null, cached = false, withheld = false } = message;
      const band = message.band ?? "none";
      const how = {
        mode,
        refusal,
        band,
        cached,
        withheld,
        handoff_offered: refusal !== null,
        support: supportOf(claims),
      };
      if (last && !last.message_id && last.question !== null) turns[turns.length - 1] = { ...last, ...stored, ...how };
      else turns.push(newTurn(null, { ...stored, ...how }));
    }
  }
  return turns;
}

/** What can still be said of the claims of a stored answer; how many were left out, its text says. */
function supportOf(claims: readonly Claim[]): Support | null {
  if (!claims.length) return null;
  const confirmed = claims.filter(({ verdict }) => verdict === "confirmed").length;
  return { claims: claims.length, confirmed, unconfirmed: claims.length - confirmed, dropped: 0, flags: [] };
}
