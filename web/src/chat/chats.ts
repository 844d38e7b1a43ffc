/** The conversations that are open in this tab. An answer goes on while one looks at something else. */

import { batch, type ReadonlySignal, signal } from "@preact/signals";
import { api, data } from "../api/client.ts";
import { type ApiProblem, asProblem, isAbort } from "../api/problem.ts";
import type { Feedback, Message } from "../api/types.ts";
import { navigate, route } from "../app/router.ts";
import { recall, remember, tab } from "../app/storage.ts";
import { touched } from "../conversations/list.ts";
import { ask } from "./ask.ts";
import type { ScopedDocument } from "./scope.ts";
import { after, failed, isRunning, newTurn, stopped, type Turn, turnsOf } from "./turn.ts";

const PAGE = 200; // messages in one request, the most that the API gives

export class Chat {
  readonly #id = signal<string | null>(null);
  readonly #turns = signal<readonly Turn[]>([]);
  readonly #title = signal("");
  readonly #loading = signal(false);
  readonly #problem = signal<ApiProblem | null>(null);
  readonly #waits = signal(false);
  #running: AbortController | null = null;

  constructor(id: string | null) {
    this.#id.value = id;
    this.#loading.value = id !== null;
    this.#waits.value = id !== null && recall(waiting(id), tab) !== null;
  }

  /** Null until the first answer has come. */
  get id(): ReadonlySignal<string | null> {
    return this.#id;
  }

  get title(): ReadonlySignal<string> {
    return this.#title;
  }

  get turns(): ReadonlySignal<readonly Turn[]> {
    return this.#turns;
  }

  get loading(): ReadonlySignal<boolean> {
    return this.#loading;
  }

  /** Why the conversation could not be read. */
  get problem(): ReadonlySignal<ApiProblem | null> {
    return this.#problem;
  }

  /** Whether a person was asked in this tab, and has not answered yet. */
  get waits(): ReadonlySignal<boolean> {
    return this.#waits;
  }

  get running(): boolean {
    return this.#turns.value.some(isRunning);
  }

  /** Read the conversation as it is stored. */
  async load(): Promise<void> {
    const id = this.#id.value;
    if (!id || this.running) return;
    this.#problem.value = null;
    this.#loading.value = this.#turns.value.length === 0;
    try {
      const messages = await this.#messages(id);
      if (!this.running) this.#turns.value = turnsOf(messages);
      if (messages.at(-1)?.role === "agent") this.#wait(id, false);
    } catch (error) {
      this.#problem.value = asProblem(error);
    } finally {
      this.#loading.value = false;
    }
  }

  /** Ask; the answer becomes the last turn. One question at a time: the box is closed meanwhile. */
  async ask(
    question: string,
    { scope = [], fresh = false }: { scope?: readonly ScopedDocument[]; fresh?: boolean } = {},
  ) {
    if (this.running) return;
    const turn = newTurn(question, { scope });
    this.#turns.value = [...this.#turns.value, turn];
    await this.#answer(turn, fresh);
  }

  /** Ask a question that failed or was stopped once more, in its place. */
  async retry(turn: Turn): Promise<void> {
    if (this.running || turn.question === null) return;
    const again = newTurn(turn.question, { key: turn.key, scope: turn.scope });
    this.#turns.value = this.#turns.value.map((each) => (each.key === turn.key ? again : each));
    await this.#answer(again, false);
  }

  /** Stop the answer: what has come of it stays, and the service stops working. */
  stop(): void {
    if (!this.running) return;
    this.#running?.abort();
    this.#turns.value = this.#turns.value.map(stopped);
  }

  /** Remember what the user thinks of an answer; the API is asked by whoever calls this. */
  rate(turn: Turn, feedback: Feedback | null): void {
    this.#change(turn.key, (each) => ({ ...each, feedback }));
  }

  /** Ask a person. Raises `ApiProblem`. */
  async handOff(reason: string, contact: string): Promise<void> {
    const conversation_id = this.#id.value;
    if (!conversation_id) return;
    const body = { reason, contact };
    const params = { path: { conversation_id } };
    await data(api().POST("/conversations/{conversation_id}/handoff", { params, body }));
    this.#wait(conversation_id, true);
  }

  /** Look whether the person has answered. */
  async look(): Promise<void> {
    const id = this.#id.value;
    if (!id || this.running) return;
    const known = new Set(this.#turns.value.map(({ message_id }) => message_id));
    const messages = await this.#messages(id);
    const news = turnsOf(messages.filter(({ message_id, role }) => role === "agent" && !known.has(message_id)));
    if (!news.length) return;
    this.#turns.value = [...this.#turns.value, ...news];
    this.#wait(id, false);
  }

  #wait(id: string, waits: boolean): void {
    this.#waits.value = waits;
    remember(waiting(id), waits ? "yes" : null, tab);
  }

  async #answer(turn: Turn, fresh: boolean): Promise<void> {
    const running = new AbortController();
    this.#running = running;
    const { key, question, scope } = turn;
    try {
      const asked = { question: question ?? "", conversation_id: this.#id.value, scope, fresh };
      for await (const event of ask(asked, running.signal)) {
        if (running.signal.aborted) break;
        this.#change(key, (each) => after(each, event));
        if (event.name === "done") this.#asked(event.answer.conversation_id, question ?? "");
      }
    } catch (error) {
      this.#change(key, (each) => (isAbort(error) ? stopped(each) : failed(each, error)));
    } finally {
      if (this.#running === running) this.#running = null;
    }
  }

  #asked(conversation_id: string, question: string): void {
    if (!conversation_id) return; // it could not be saved
    if (!this.#id.value) {
      batch(() => {
        this.#id.value = conversation_id;
        this.#title.value = question;
        keep(conversation_id, this);
      });
    }
    touched({ conversation_id, title: this.#title.value });
  }

  #change(key: string, change: (turn: Turn) => Turn): void {
    this.#turns.value = this.#turns.value.map((each) => (each.key === key ? change(each) : each));
  }

  async #messages(conversation_id: string): Promise<Message[]> {
    const messages: Message[] = [];
    let cursor = "";
    do {
      const query = { limit: PAGE, ...(cursor && { cursor }) };
      const params = { path: { conversation_id }, query };
      const page = await data(api().GET("/conversations/{conversation_id}", { params }));
      this.#title.value = page.title;
      messages.push(...page.messages);
      cursor = page.next_cursor;
    } while (cursor);
    return messages;
  }
}

function waiting(id: string): string {
  return `handoff.${id}`;
}

const kept = new Map<string, Chat>();
let blank: Chat | null = null;

/** The conversation with this id, or the one that is not begun yet. */
export function chatOf(id: string | null): Chat {
  if (id === null) {
    blank ??= new Chat(null);
    return blank;
  }
  const known = kept.get(id);
  if (known) return known;
  const chat = new Chat(id);
  kept.set(id, chat);
  return chat;
}

function keep(id: string, chat: Chat): void {
  kept.set(id, chat);
  if (blank !== chat) return;
  blank = null;
  if (route.value.name === "chat") navigate({ name: "conversation", conversation_id: id }, { replace: true });
}
