import assert from "node:assert/strict";
import test from "node:test";
import type { Answer, Citation, Message } from "../api/types.ts";
import { after, failed, isRunning, newTurn, stopped, turnsOf } from "./turn.ts";

const citation = (n: number) => ({ n, quote: `Quote ${n}` }) as Citation;

test("an answer arrives: searching, reading, writing, done", () => {
  let turn = newTurn("When?");
  assert.equal(turn.phase, "searching");
  turn = after(turn, { name: "sources", sources: [] });
  assert.equal(turn.phase, "reading");
  turn = after(after(turn, { name: "citation", citation: citation(1) }), { name: "delta", text: "At " });
  turn = after(turn, { name: "delta", text: "nine. [1]" });
  assert.deepEqual([turn.phase, turn.text, turn.citations.length], ["writing", "At nine. [1]", 1]);
  const answer = { answer: "At nine. [1]", citations: [citation(1)], refusal: null } as Answer;
  turn = after(turn, { name: "done", answer });
  assert.deepEqual([turn.phase, turn.text], ["done", "At nine. [1]"]);
});

test("what comes after the end changes nothing", () => {
  const turn = stopped(newTurn("When?"));
  assert.equal(after(turn, { name: "delta", text: "late" }), turn);
  assert.equal(failed(turn, new Error("late")), turn);
  assert.equal(isRunning(turn), false);
});

test("stored messages become turns: answers with their questions, a person's answer apart", () => {
  const message = (role: string, content: string, more: Partial<Message> = {}) =>
    ({ role, content, message_id: content, created_at: "", citations: [], claims: [], ...more }) as Message;
  const claims = [{ text: "At nine.", verdict: "unconfirmed" as const, citations: [1], derived: "" }];
  const turns = turnsOf([
    message("user", "When?"),
    message("assistant", "At nine. [1]", { claims, mode: "generated", band: "low" }),
    message("user", "Why?"),
    message("assistant", "Nothing found.", { mode: "refused", refusal: "no_relevant_info" }),
    message("agent", "Because."),
    message("user", "How?"),
    message("assistant", "This answer is not shown.", { mode: "generated", withheld: true }),
    message("user", "Unanswered"),
  ]);
  assert.deepEqual(
    turns.map(({ question, text, by, phase }) => [question, text, by, phase]),
    [
      ["When?", "At nine. [1]", "service", "done"],
      ["Why?", "Nothing found.", "service", "done"],
      [null, "Because.", "person", "done"],
      ["How?", "This answer is not shown.", "service", "done"],
      ["Unanswered", "", "service", "stopped"],
    ],
  );
  assert.equal(turns[0]?.support?.unconfirmed, 1);
  assert.equal(turns[1]?.handoff_offered, true);
  assert.deepEqual([turns[0]?.band, turns[1]?.band], ["low", "none"]);
  assert.deepEqual(
    turns.map(({ withheld }) => withheld),
    [false, false, false, true, false],
  );
});
