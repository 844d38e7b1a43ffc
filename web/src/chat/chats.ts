/** The conversations that are open in this tab. An answer goes on while one looks at something else. */

import { batch, type ReadonlySignal, signal } from "@preact/signals";
import { api, data } from "../api/client.ts";
import { type ApiProblem, asProblem, isAbort } from "../api/problem.ts";
import type { Feedback, Message } from "../api/types.ts";
import { navigate, route } from "../app/router.ts";
import { recall, remember, tab } from "../app/storage.ts";
import { conversations, touched } from "../conversations/list.ts";
import { ask } from "./ask.ts";
import { askedIn, isSame, isTitleOf, keepAsked } from "./asked.ts";
import type { ScopedDocument } from "./scope.ts";
import { after, failed, isRunning, newTurn, stopped, type Turn, turnsOf } from "./turn.ts";

const PAGE = 200; // messages in one request, the most that the API gives
const NEWEST = 5; // conversations that are looked through for a question
const CLOCKS_MS = 60_000; // how far the clocks here and there may differ

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
    if (this.running) return;
    if (!id) return this.#findAgain();
    this.#problem.value = null;
    this.#loading.value = this.#turns.value.length === 0;
    try {
      const messages = await this.#messages(id);
      if (!this.running) this.#turns.value = withAsked(id, turnsOf(messages));
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
    keepAsked(this.#id.value, null);
  }

  /** Begin anew, where no answer is under way: what was asked here has no answer that was saved. */
  clear(): void {
    if (this.running) return;
    this.#turns.value = [];
    keepAsked(null, null);
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
    const id = this.#id.value;
    const before = id
      ? this.#turns.value.map(({ message_id }) => message_id)
      : conversations.value.map(({ conversation_id }) => conversation_id);
    keepAsked(id, { question: question ?? "", scope, at: new Date().toISOString(), before });
    try {
      const asked = { question: question ?? "", conversation_id: id, scope, fresh };
      for await (const event of ask(asked, running.signal)) {
        if (running.signal.aborted) break;
        this.#change(key, (each) => after(each, event));
        if (event.name !== "done") continue;
        keepAsked(id, null);
        this.#asked(event.answer.conversation_id, question ?? "");
      }
    } catch (error) {
      // When the page goes, the answer breaks off like any other: then it must be kept.
      if (!asProblem(error).passing) keepAsked(id, null);
      this.#change(key, (each) => (isAbort(error) ? stopped(each) : failed(each, error)));
    } finally {
      if (this.#running === running) this.#running = null;
    }
  }

  /** Show what was asked when the page was left; if it was answered all the same, go to that conversation. */
  async #findAgain(): Promise<void> {
    const asked = askedIn(null);
    if (!asked) return;
    this.#turns.value = withAsked(null, []);
    const params = { query: { limit: NEWEST } };
    const newest = await data(api().GET("/conversations", { params })).catch(() => null); // then it is asked again
    const found = newest?.conversations.find(
      ({ conversation_id, title, created_at }) =>
        !asked.before.includes(conversation_id) &&
        Date.parse(created_at) > Date.parse(asked.at) - CLOCKS_MS &&
        isTitleOf(title, asked.question),
    );
    const isLast = askedIn(null)?.at === asked.at; // or something else was asked meanwhile, or a new chat begun
    if (!found || !isLast || this.running || blank !== this) return;
    this.clear();
    const { conversation_id } = found;
    if (route.value.name === "chat") navigate({ name: "conversation", conversation_id }, { replace: true });
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

/** The turns of a conversation, and at their end the question that the page was left with, unless they answer it. */
function withAsked(id: string | null, turns: Turn[]): Turn[] {
  const asked = askedIn(id);
  if (!asked) return turns;
  const { question, scope, at, before } = asked;
  const isAnswered = ({ message_id, question: other }: Turn) =>
    message_id !== "" && !before.includes(message_id) && isSame(other ?? "", question);
  if (!turns.some(isAnswered)) return [...turns, newTurn(question, { scope, phase: "stopped", created_at: at })];
  keepAsked(id, null);
  return turns;
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

// The link to a new chat is one to the place where one is already, if the first question has failed or was stopped. From
// elsewhere, or in another tab, it leads to that question.
addEventListener("click", ({ target, ctrlKey, metaKey, shiftKey, altKey }) => {
  if (ctrlKey || metaKey || shiftKey || altKey || route.value.name !== "chat") return;
  if (target instanceof Element && target.closest('a[href="#/"]')) blank?.clear();
});
