// OpenAI's SDK for Node, unchanged, against /v1: `node openai_sdk.mjs URL TOKEN`.
import assert from "node:assert/strict";
import OpenAI from "openai";

const [url, token] = process.argv.slice(2);
const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: token, maxRetries: 0 });
const messages = [{ role: "user", content: "How often must the lens of the lighthouse lamp be cleaned?" }];

const models = await client.models.list();
assert.deepEqual(
  models.data.map((model) => model.id),
  ["recto"],
);

const completion = await client.chat.completions.create({ model: "recto", messages, temperature: 0 });
const { message, finish_reason } = completion.choices[0];
assert.match(message.content, /every Thursday/);
assert.match(message.content, /\n---\n- \[1\] \*Orsk Lighthouse Handbook\*/);
assert.equal(message.citations[0].page_start, 2);
assert.equal(finish_reason, "stop");

const stream = await client.chat.completions.create({
  model: "recto",
  messages,
  stream: true,
  stream_options: { include_usage: true },
});
let text = "";
let usage;
for await (const chunk of stream) {
  text += chunk.choices[0]?.delta.content ?? "";
  usage = chunk.usage ?? usage;
}
assert.equal(text, message.content);
assert.equal(usage.total_tokens, 0); // the same question again: a kept answer costs nothing

const response = await client.responses.create({ model: "recto", input: messages });
assert.match(response.output_text, /every Thursday/);
assert.equal(response.output[0].content[0].annotations[0].type, "file_citation");

const unknown = client.chat.completions.create({ model: "gpt-6", messages });
await assert.rejects(unknown, (error) => error instanceof OpenAI.NotFoundError && error.code === "model_not_found");
const refused = client.chat.completions.create({ model: "recto", messages, n: 2 });
await assert.rejects(refused, (error) => error instanceof OpenAI.BadRequestError && error.param === "n");
const nobody = new OpenAI({ baseURL: `${url}/v1`, apiKey: "wrong", maxRetries: 0 });
await assert.rejects(nobody.models.list(), OpenAI.AuthenticationError);

console.log("openai: ok");
