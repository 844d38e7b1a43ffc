import assert from "node:assert/strict";
import { test } from "node:test";
import { delayAfter, Watch, type Watched } from "./watching.ts";

/** A watch whose pauses end when the test says so, and what it told. */
function watched(answers: Map<string, Watched | null>) {
  const told: string[] = [];
  const pauses: { ms: number; end: () => void }[] = [];
  const clock = { now: 0 };
  let looks = 0;
  const watch = new Watch<Watched>({
    look: async (ids) => {
      looks += 1;
      return new Map(ids.map((id) => [id, answers.get(id) ?? null]));
    },
    changed: (id, now) => told.push(`${id} ${now?.status ?? "gone"}`),
    wait: (ms) => {
      let end = () => {};
      const done = new Promise<void>((resolve) => {
        end = resolve;
      });
      pauses.push({ ms, end });
      return { done, end };
    },
    now: () => clock.now,
  });
  const pass = async () => {
    pauses.at(-1)?.end();
    for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  };
  return { watch, told, pauses, clock, pass, looks: () => looks };
}

const at = (status: string, updated_at = "1"): Watched => ({ document_id: "d", status, updated_at });

test("a document is looked at until it has come to rest, more and more seldom", async () => {
  const answers = new Map<string, Watched | null>([["d", at("PENDING")]]);
  const { watch, told, pauses, pass, looks } = watched(answers);
  watch.follow("d", at("PENDING"));
  await pass();
  await pass();
  await pass();
  const waits = pauses.map((each) => each.ms);
  assert.ok(waits.every((ms, index) => index === 0 || ms > (waits[index - 1] ?? 0)));
  answers.set("d", at("PROCESSING", "2"));
  await pass();
  assert.equal(pauses.at(-1)?.ms, delayAfter(0), "something happens: look again soon");
  answers.set("d", at("READY", "3"));
  await pass();
  const before = looks();
  await pass();
  assert.deepEqual(told, ["d PROCESSING", "d READY"]);
  assert.equal(looks(), before, "it is at rest");
});

test("each page that is read is told, and the next look is soon", async () => {
  const reading = (page: number): Watched => ({ ...at("PROCESSING"), progress: { page, page_count: 300 } });
  const answers = new Map<string, Watched | null>([["d", reading(1)]]);
  const { watch, told, pauses, pass } = watched(answers);
  watch.follow("d", reading(1));
  for (let look = 0; look < 12; look += 1) await pass();
  assert.deepEqual(told, [], "nothing new");
  answers.set("d", reading(120));
  await pass();
  assert.deepEqual(told, ["d PROCESSING"]);
  assert.ok((pauses.at(-1)?.ms ?? 0) < 6_000);
  watch.stop();
});

test("a replaced document is not believed to be at rest before its new version was found", async () => {
  const answers = new Map<string, Watched | null>([["d", at("READY")]]);
  const { watch, told, pass } = watched(answers);
  watch.follow("d", at("READY"), true);
  await pass();
  await pass();
  answers.set("d", at("READY", "2"));
  await pass();
  assert.deepEqual(told, ["d READY"]);
});

test("one that is gone is told of, and let go", async () => {
  const { watch, told, pass, looks } = watched(new Map());
  watch.follow("d", at("PENDING"));
  await pass();
  await pass();
  assert.deepEqual(told, ["d gone"]);
  assert.equal(looks(), 1);
});

test("the pauses end at half a minute", () => {
  assert.equal(delayAfter(100), 30_000);
});
