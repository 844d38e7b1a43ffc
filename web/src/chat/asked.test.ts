import assert from "node:assert/strict";
import test from "node:test";
import { isSame, isTitleOf } from "./asked.ts";

test("questions are compared as the server writes them", () => {
  assert.ok(isSame(" How\u00a0often\n are they des\u00adcaled?\u200b", "How often are they descaled?"));
  assert.ok(isSame("Kada pietu\u0328s?\u0007\ud800", "Kada piet\u0173s?"));
  assert.ok(!isSame("How often?", "how often?"));
});

test("a title is the question, cut at 80 characters", () => {
  assert.ok(isTitleOf("When is lunch?", "When  is lunch?\u200d"));
  assert.ok(!isTitleOf("When", "When is lunch?"));
  assert.ok(!isTitleOf("", "\u00ad"));
  const long = `${"\u{1f35e}".repeat(79)} and more`;
  assert.ok(isTitleOf(`${"\u{1f35e}".repeat(79)} `, long));
  assert.ok(!isTitleOf("\u{1f35e}".repeat(79), long));
});
