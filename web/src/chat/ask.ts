import { request, send } from "../api/client.ts";
import { ApiProblem } from "../api/problem.ts";
import { type AnswerEvent, answerEvent, eventsOf } from "./events.ts";
import type { ScopedDocument } from "./scope.ts";

export interface Asked {
  question: string;
  conversation_id: string | null;
  scope: readonly ScopedDocument[];
  /** Not from the answer cache. */
  fresh: boolean;
}

/** Ask, and yield the answer as it arrives. Raises `ApiProblem`; ends early without an error if `signal` is aborted. */
export async function* ask(asked: Asked, signal: AbortSignal): AsyncGenerator<AnswerEvent> {
  const body = {
    question: asked.question,
    ...(asked.fresh && { fresh: true }),
    ...(asked.scope.length && { filter: { document_id: { $in: asked.scope.map((each) => each.document_id) } } }),
  };
  const path = asked.conversation_id
    ? `/conversations/${encodeURIComponent(asked.conversation_id)}/messages`
    : "/query";
  const response = await send(
    request(path, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "text/event-stream" },
      body: JSON.stringify(body),
      signal,
    }),
  );
  if (!response.headers.get("content-type")?.startsWith("text/event-stream")) {
    yield { name: "done", answer: await response.json() };
    return;
  }
  let ended = false;
  for await (const raw of eventsOf(response.body ?? new ReadableStream())) {
    const event = answerEvent(raw);
    if (event?.name === "error") throw new ApiProblem(event.problem.status ?? 500, event.problem);
    if (event) yield event;
    ended ||= event?.name === "done";
  }
  if (!ended) throw new ApiProblem(0, { code: "unreachable", detail: "the answer was cut off" });
}
