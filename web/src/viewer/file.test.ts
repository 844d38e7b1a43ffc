import assert from "node:assert/strict";
import { afterEach, mock, test } from "node:test";
import { FIRST_BYTES, FileError, LinkedFile } from "./file.ts";

const BYTES = new Uint8Array(FIRST_BYTES + 1_000).map((_, at) => at % 251);
afterEach(() => mock.restoreAll());

interface Asked {
  url: string;
  range: string;
}

/** Answers requests by `answer`, and notes them. */
function bucket(answer: (asked: Asked, nth: number) => Response): Asked[] {
  const asked: Asked[] = [];
  mock.method(globalThis, "fetch", async (url: string, init: { headers: { range: string } }) => {
    asked.push({ url, range: init.headers.range });
    return answer({ url, range: init.headers.range }, asked.length);
  });
  return asked;
}

function part({ range }: Asked): Response {
  const [first = 0, last = 0] = range.replace("bytes=", "").split("-").map(Number);
  const body = BYTES.slice(first, last + 1);
  return new Response(body, { status: 206, headers: { "content-range": `bytes ${first}-${last}/${BYTES.length}` } });
}

function file(newLink = async () => ({ url: "new", size_bytes: BYTES.length })): LinkedFile {
  return new LinkedFile({ url: "old", size_bytes: BYTES.length }, newLink, new AbortController().signal);
}

test("a file is read in ranges", async () => {
  const asked = bucket(part);
  const { bytes, length } = await file().beginning();
  assert.deepEqual([bytes.length, length], [FIRST_BYTES, BYTES.length]);
  assert.deepEqual(await file().range(10, 20), BYTES.slice(10, 20));
  assert.deepEqual(
    asked.map(({ range }) => range),
    [`bytes=0-${FIRST_BYTES - 1}`, "bytes=10-19"],
  );
});

test("a server that knows no ranges sends all of it", async () => {
  bucket(() => new Response(BYTES));
  const { bytes, length } = await file().beginning();
  assert.deepEqual([bytes.length, length], [BYTES.length, BYTES.length]);
  assert.deepEqual(await file().range(10, 20), BYTES.slice(10, 20));
});

test("a link that has expired is replaced by a new one, which is kept", async () => {
  const asked = bucket((request) => (request.url === "old" ? new Response("", { status: 403 }) : part(request)));
  const linked = file();
  await linked.range(0, 10);
  await linked.range(10, 20);
  assert.deepEqual(
    asked.map(({ url }) => url),
    ["old", "new", "new"],
  );
});

test("a failing bucket and a failing connection are tried again", async () => {
  bucket((request, nth) => {
    if (nth === 1) throw new TypeError("no connection");
    return nth === 2 ? new Response("", { status: 503 }) : part(request);
  });
  assert.deepEqual(await file().range(0, 3), BYTES.slice(0, 3));
});

test("a file that is gone is said to be, at once", async () => {
  const asked = bucket(() => new Response("", { status: 404 }));
  await assert.rejects(file().range(0, 3), (error) => error instanceof FileError && error.status === 404);
  assert.equal(asked.length, 1);
});
