import type { Answer, Citation } from "../src/api/types.ts";
import { answerEvent, eventsOf } from "../src/chat/events.ts";

/** What the site has told the widget. */
export interface Settings {
  /** The API's address, without a slash at its end. */
  api: string;
  /** An API key, or a function that returns a token of the site's user. */
  token: () => string | Promise<string>;
}

/** An answer as far as it has come. */
export interface Arriving {
  text: string;
  citations: Citation[];
  answer: Answer | null;
}

export class Refused extends Error {
  readonly status: number;
  constructor(status: number) {
    super(`the API answered ${status}`);
    this.status = status;
  }
}

/** Ask, and yield the answer each time there is more of it. Raises `Refused`, and what `fetch` raises. */
export async function* ask(
  settings: Settings,
  question: string,
  conversation_id: string | null,
  signal: AbortSignal,
): AsyncGenerator<Arriving> {
  const response = await fetch(`${settings.api}/query`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${await settings.token()}`,
      "content-type": "application/json",
      accept: "text/event-stream",
    },
    body: JSON.stringify({ question, ...(conversation_id && { conversation_id }) }),
    credentials: "omit",
    signal,
  });
  if (!response.ok || !response.body) throw new Refused(response.status);
  const arriving: Arriving = { text: "", citations: [], answer: null };
  for await (const raw of eventsOf(response.body)) {
    const event = answerEvent(raw);
    if (event?.name === "error") throw new Refused(event.problem.status ?? 500);
    if (event?.name === "delta") arriving.text += event.text;
    if (event?.name === "citation") arriving.citations.push(event.citation);
    if (event?.name === "done") {
      arriving.answer = event.answer;
      arriving.text = event.answer.answer;
      arriving.citations = event.answer.citations;
    }
    if (event) yield { ...arriving };
  }
  if (!arriving.answer) throw new Refused(0);
}
