// A round trip with the generated TypeScript client: `node roundtrip.js URL TOKEN`. Compiled with --strict, so the types
// that openapi-typescript makes of the document must fit what is done with them here.
import assert from "node:assert/strict";
import createClient from "openapi-fetch";
import type { components, paths } from "./recto";

const [url, token] = process.argv.slice(2);
const client = createClient<paths>({ baseUrl: url, headers: { Authorization: `Bearer ${token}` } });

const listed = await client.GET("/documents", { params: { query: { limit: 1, status: "READY" } } });
const document = listed.data?.documents[0];
assert(document, "the handbook is there");
assert.equal(document.title, "Orsk Lighthouse Handbook");

const body: components["schemas"]["QueryBody"] = {
  question: "How often must the lens of the lighthouse lamp be cleaned?",
  filter: { document_id: { $in: [document.document_id] }, page_start: { $gte: 1 } },
};
const asked = await client.POST("/query", { body });
assert(asked.data, JSON.stringify(asked.error));
assert.match(asked.data.answer, /Thursday/); // no union: the answer is the JSON one
const citation: components["schemas"]["CitationOut"] | undefined = asked.data.citations[0];
assert.equal(citation?.page_start, 2);

const path = { conversation_id: asked.data.conversation_id };
const kept = await client.GET("/conversations/{conversation_id}", { params: { path } });
assert.deepEqual(
  kept.data?.messages.map((message) => message.role),
  ["user", "assistant"],
);

const upload = await client.POST("/documents", { body: { filename: "reports/2024.pdf" } });
assert.equal(upload.response.status, 201);
assert.equal(upload.data?.upload.fields["Content-Type"], "application/pdf");

const wrong = await client.POST("/query", { body: { question: "x", filter: { $or: [] } } });
const problem: components["schemas"]["Problem"] | undefined = wrong.error;
assert.equal(wrong.response.status, 422);
assert.equal(problem?.path, "filter.$or");

const nobody = await createClient<paths>({ baseUrl: url }).GET("/documents");
assert.equal(nobody.error?.code, "not_authenticated");

console.log("typescript: ok");
