import assert from "node:assert/strict";
import test from "node:test";
import { answerEvent, EventParser, eventsOf } from "./events.ts";

const STREAM =
  'event: delta\ndata: {"text":"ąč"}\n\n: still working\n\nevent: done\r\ndata: {"a":\r\ndata: 1}\r\n\r\ndata: plain\r\revent: cut\ndata: off';
const EVENTS = [
  { event: "delta", data: '{"text":"ąč"}' },
  { event: "done", data: '{"a":\n1}' },
  { event: "message", data: "plain" },
];

test("events are read whatever the pieces are", () => {
  for (let size = 1; size <= STREAM.length; size++) {
    const parser = new EventParser();
    const pieces = Array.from({ length: Math.ceil(STREAM.length / size) }, (_, i) =>
      STREAM.slice(i * size, (i + 1) * size),
    );
    assert.deepEqual(
      pieces.flatMap((piece) => [...parser.read(piece)]),
      EVENTS,
      `in pieces of ${size}`,
    );
  }
});

test("letters that are cut in two bytes are put together", async () => {
  const bytes = new TextEncoder().encode(STREAM);
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const byte of bytes) controller.enqueue(new Uint8Array([byte]));
      controller.close();
    },
  });
  const events = [];
  for await (const event of eventsOf(body)) events.push(event);
  assert.deepEqual(events, EVENTS);
});

test("an event that the page does not know is passed over", () => {
  assert.equal(answerEvent({ event: "news", data: "{}" }), null);
  assert.deepEqual(answerEvent({ event: "delta", data: '{"text":"a"}' }), { name: "delta", text: "a" });
});
