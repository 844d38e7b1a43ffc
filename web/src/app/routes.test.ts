import assert from "node:assert/strict";
import { test } from "node:test";
import { href, parse, type Route } from "./routes.ts";

const PLACES: readonly [string, Route][] = [
  ["#/", { name: "chat" }],
  ["#/c/01J8%2F%231", { name: "conversation", conversation_id: "01J8/#1" }],
  ["#/documents", { name: "documents" }],
  ["#/documents/d17", { name: "document", document_id: "d17", page: null }],
  ["#/documents/d17?page=3", { name: "document", document_id: "d17", page: 3 }],
  ["#/queue/h1", { name: "handoff", handoff_id: "h1" }],
  ["#/unanswered", { name: "unanswered" }],
];

test("an address and a place stand for each other", () => {
  for (const [address, place] of PLACES) {
    assert.deepEqual(parse(address), place);
    assert.equal(href(place), address);
  }
});

test("an address that is broken leads nowhere, and never throws", () => {
  for (const address of ["#/nothing", "#/c/a/b", "#/faqs/1", "#/c/%E0%A4%A/x"]) {
    assert.equal(parse(address).name, "nowhere", address);
  }
  assert.deepEqual(parse("#/c/%E0%A4%A"), { name: "conversation", conversation_id: "%E0%A4%A" });
});

test("a page that is no page of a document is left out", () => {
  for (const page of ["0", "-1", "1.5", "x", ""]) {
    assert.deepEqual(parse(`#/documents/d?page=${page}`), { name: "document", document_id: "d", page: null });
  }
});

test("an empty address is a new chat", () => {
  assert.deepEqual(parse(""), { name: "chat" });
});
