import assert from "node:assert/strict";
import { test } from "node:test";
import type { Document } from "../api/types.ts";
import { additionsOf, changesOf, EMPTY_FORM, formOf, foundOf, tagsOf } from "./labels.ts";

const labelled = { labels: { chapter: "Maintenance", tags: ["coffee", "2026"] } } as Document;

test("a form that was not touched changes nothing", () => {
  assert.deepEqual(changesOf(labelled, formOf(labelled)), {});
});

test("a field that was emptied takes the label away, and one that was filled sets it", () => {
  const form = { ...formOf(labelled), chapter: " ", goal: "training", tags: "coffee" };
  assert.deepEqual(changesOf(labelled, form), { chapter: null, goal: "training", tags: ["coffee"] });
});

test("labels of several documents are added to each; empty fields stay as they are", () => {
  const form = { ...EMPTY_FORM, type: "manual", tags: "2026, machines" };
  assert.deepEqual(additionsOf(labelled, form), { type: "manual", tags: ["coffee", "2026", "machines"] });
});

test("a field of the identity card is corrected by a label; names are cut at semicolons", () => {
  const identity = { organisation: ["Plum, Inc."], kind: "report" };
  const found = { identity, labels: { kind: "report" } } as Document;
  assert.equal(foundOf(found, "organisation"), "Plum, Inc.");
  assert.equal(foundOf(found, "kind"), "");
  const form = { ...formOf(found), organisation: "Plum, Inc.; PLUM", kind: "" };
  assert.deepEqual(changesOf(found, form), { organisation: ["Plum, Inc.", "PLUM"], kind: null });
});

test("tags are cut at commas, each once; too many or too long ones are none", () => {
  assert.deepEqual(tagsOf(" a, b ,,a"), ["a", "b"]);
  assert.equal(tagsOf("x".repeat(201)), null);
  assert.equal(tagsOf(Array.from({ length: 21 }, (_, n) => `t${n}`).join()), null);
});
