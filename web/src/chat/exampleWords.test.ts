import assert from "node:assert/strict";
import test from "node:test";
import type { Document } from "../api/types.ts";
import { chosenQuestions, headingsOf, shortTitle } from "./exampleWords.ts";

test("the headings of a page are the last of its sections, without numbers", () => {
  const sections = [
    "3 Maintenance schedule > 3.1 Intervals",
    "3 Maintenance schedule > 3.2 Descaling",
    "4 Descaling",
    "",
  ];
  assert.deepEqual(headingsOf(sections), ["Intervals", "Descaling"]);
  const short = ["API keys", "A guide to pumps", "Chapter 3 Pumps", "Į vidų"];
  assert.deepEqual(headingsOf(short), short);
  for (const odd of ["Potato 15", "WARNING", "See page 4: Filters", "12", "Of 2026"]) {
    assert.deepEqual(headingsOf([`Menu > ${odd}`]), []);
  }
});

test("a title is shortened to its name", () => {
  assert.equal(shortTitle("Brunata Duo espresso machine: Maintenance manual"), "Brunata Duo espresso machine");
  assert.equal(shortTitle("FAQ: Parking"), "FAQ: Parking");
  const long = "Improving Recommendation Systems with User Personality Inferred from Product Reviews";
  assert.equal(shortTitle(long), long.replace(" Reviews", "…"));
  assert.equal(shortTitle("文".repeat(90)), `${"文".repeat(80)}…`);
  assert.equal(shortTitle(`${"a".repeat(80)} b`), `${"a".repeat(80)}…`);
  assert.equal(shortTitle(`第1章 ${"文".repeat(90)}`), `第1章 ${"文".repeat(76)}…`);
  assert.equal(shortTitle(`${"a".repeat(90)}: b`), `${"a".repeat(80)}…`);
});

test("three questions about different documents, in their languages", () => {
  const of = (title: string, language: string) => ({ title, language }) as Document;
  const found = [
    { each: of("Brunata Duo: Manual", "en"), headings: ["Descaling"] },
    { each: of("Kortelė", "lt"), headings: ["Tinklas"] },
    { each: of("Handbook", "en"), headings: [] },
  ];
  assert.deepEqual(chosenQuestions(found), [
    "What is “Brunata Duo” about?",
    "Ką dokumentai sako apie „Tinklas“?",
    "What is “Handbook” about?",
  ]);
  assert.deepEqual(chosenQuestions(found.slice(0, 1)), [
    "What is “Brunata Duo” about?",
    "What do the documents say about “Descaling”?",
  ]);
  const faq = { title: "Where can I park?", source_type: "faq", language: "en" } as Document;
  assert.deepEqual(chosenQuestions([{ each: faq, headings: [] }]), ["Where can I park?"]);
  assert.deepEqual(chosenQuestions([]), []);
});
