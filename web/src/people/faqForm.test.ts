import assert from "node:assert/strict";
import { test } from "node:test";
import { bodyOf, EMPTY_FAQ, errorsOf, tagsOf } from "./faqForm.ts";

test("tags are lines of name and value; several values are a list", () => {
  assert.deepEqual(tagsOf("audience: visitors\n\nyears: 2025, 2026"), {
    tags: { audience: "visitors", years: ["2025", "2026"] },
    wrong: "",
  });
});

test("the first line that is no tag is named", () => {
  assert.equal(tagsOf("audience: visitors\njust words\nmore:").wrong, "just words");
});

test("question and answer are needed, and a language is a tag", () => {
  assert.deepEqual(errorsOf({ ...EMPTY_FAQ, language: "Lithuanian, of course" }), {
    question: "question_missing",
    answer: "answer_missing",
    language: "language_wrong",
  });
  assert.deepEqual(errorsOf({ ...EMPTY_FAQ, question: "Where?", answer: "Here.", language: "pt-BR" }), {});
});

test("spaces around what was typed are not stored", () => {
  const body = bodyOf({ ...EMPTY_FAQ, question: " Where? ", answer: "Here.\n" });
  assert.equal(body.question, "Where?");
  assert.equal(body.answer, "Here.");
});
