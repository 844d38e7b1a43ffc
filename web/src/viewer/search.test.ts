import assert from "node:assert/strict";
import test from "node:test";
import type { PageLayer } from "./highlight.ts";
import { hitsIn } from "./search.ts";

const layer = (text: string): PageLayer => ({
  page: 1,
  width: 100,
  height: 100,
  runs: text
    ? [
        {
          text,
          ends: true,
          at: [0, 50],
          onward: [1, 0],
          upward: [0, -1],
          length: 50,
          ascent: 5,
          descent: 1,
          rightToLeft: false,
          share: (at) => at / text.length,
        },
      ]
    : [],
});

async function found(pages: readonly (string | Error)[]) {
  const file = {
    pageCount: pages.length,
    layer: async (page: number) => {
      const text = pages[page - 1];
      if (text instanceof Error) throw text;
      return layer(text ?? "");
    },
  };
  let last = { pages: [] as number[], lacksText: false, isDone: false };
  for await (const { hits, lacksText, isDone } of hitsIn(file, "acid")) {
    last = { pages: hits.map(({ page }) => page), lacksText, isDone };
  }
  return last;
}

test("words are found page by page", async () => {
  assert.deepEqual(await found(["citric acid", "water", "Acid, acid"]), {
    pages: [1, 3, 3],
    lacksText: false,
    isDone: true,
  });
});

test("a page without text is told from one that cannot be read", async () => {
  assert.equal((await found(["water", ""])).lacksText, true);
  assert.deepEqual(await found([new Error("cut off"), "acid"]), { pages: [2], lacksText: false, isDone: true });
});
