/** A streamed answer: server-sent events over `fetch`, which unlike EventSource sends a body and a token. */

import type { Answer, Citation, Claim, Source, Support } from "../api/types.ts";

export type AnswerEvent =
  | { name: "sources"; sources: Source[] }
  | { name: "citation"; citation: Citation }
  | { name: "delta"; text: string }
  | { name: "support"; support: Support; claims: Claim[] }
  | { name: "done"; answer: Answer }
  | { name: "error"; problem: Record<string, unknown> & { status?: number } };

export interface ServerEvent {
  event: string;
  data: string;
}

/** Yield the events of a body as they arrive; an event that is cut off by the end is none. */
export async function* eventsOf(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  const parser = new EventParser();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield* parser.read(decoder.decode(value, { stream: true }));
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

/** Reads the text of an event stream, in pieces of any size (WHATWG HTML, 9.2.6). */
export class EventParser {
  #rest = "";
  #event = "";
  #data: string[] = [];

  /** The events that this piece completes. */
  *read(piece: string): Generator<ServerEvent> {
    // A line feed may still follow a carriage return at the end: that one waits.
    const lines = (this.#rest + piece).split(/\r\n|\n|\r(?!$)/);
    this.#rest = lines.pop() ?? "";
    for (const line of lines) {
      if (line !== "") this.#field(line);
      else if (this.#data.length) yield this.#take();
      else this.#event = "";
    }
  }

  #field(line: string): void {
    const [, name = "", value = ""] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
    if (name === "event") this.#event = value;
    if (name === "data") this.#data.push(value);
  }

  #take(): ServerEvent {
    const taken = { event: this.#event || "message", data: this.#data.join("\n") };
    this.#event = "";
    this.#data = [];
    return taken;
  }
}

/** What an event says about the answer; null for one that this page does not know. */
export function answerEvent({ event, data }: ServerEvent): AnswerEvent | null {
  const body = JSON.parse(data);
  switch (event) {
    case "sources":
      return { name: "sources", sources: body.sources };
    case "citation":
      return { name: "citation", citation: body };
    case "delta":
      return { name: "delta", text: body.text };
    case "support":
      return { name: "support", support: body.support, claims: body.claims };
    case "done":
      return { name: "done", answer: body };
    case "error":
      return { name: "error", problem: body };
    default:
      return null;
  }
}
