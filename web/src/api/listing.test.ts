import assert from "node:assert/strict";
import { test } from "node:test";
import { Listing } from "./listing.ts";

test("pages follow one another, and empty ones are passed over", async () => {
  const pages = new Map([
    ["", { items: [1], next: "a" }],
    ["a", { items: [], next: "b" }],
    ["b", { items: [2], next: "" }],
  ]);
  const listing = new Listing<number>(async (cursor) => pages.get(cursor) ?? { items: [], next: "" });
  await listing.reload();
  assert.deepEqual(listing.items.value, [1]);
  await listing.more();
  assert.deepEqual([listing.items.value, listing.next.value], [[1, 2], ""]);
});

test("an answer that comes after a newer question is not shown", async () => {
  const waiting: ((items: number[]) => void)[] = [];
  const listing = new Listing<number>(
    () => new Promise((resolve) => waiting.push((items) => resolve({ items, next: "" }))),
  );
  const first = listing.reload();
  const second = listing.reload();
  waiting[1]?.([2]);
  await second;
  waiting[0]?.([1]);
  await first;
  assert.deepEqual(listing.items.value, [2]);
  assert.equal(listing.loading.value, false);
});

test("what was read stays when reading it anew fails", async () => {
  let fails = false;
  const listing = new Listing<number>(async () => {
    if (fails) throw new Error("busy");
    return { items: [1], next: "" };
  });
  await listing.reload();
  fails = true;
  await listing.reload();
  assert.deepEqual(listing.items.value, [1]);
  assert.ok(listing.error.value instanceof Error);
});
