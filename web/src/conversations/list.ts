/** One's own conversations, the last used first: what the sidebar shows. */

import { computed, signal } from "@preact/signals";
import { api, data, request, send } from "../api/client.ts";
import { asProblem } from "../api/problem.ts";
import type { ConversationHead } from "../api/types.ts";
import { adviceOn } from "../app/advice.ts";
import { navigate, route } from "../app/router.ts";
import { keepAsked } from "../chat/asked.ts";
import { t } from "../i18n/frame.ts";
import { saveFile } from "../ui/saveFile.ts";
import { toast } from "../ui/toast.ts";

const PAGE = 30;

const loaded = signal<readonly ConversationHead[]>([]);
const leaving = signal<ReadonlySet<string>>(new Set());
/** The words that titles are searched for. */
export const words = signal("");
export const loading = signal(false);
export const error = signal<unknown>(null);
const cursor = signal<string | null>(null);

/** The conversations loaded so far, without those being deleted. */
export const conversations = computed(() => loaded.value.filter((each) => !leaving.value.has(each.conversation_id)));
/** Null while nothing has been loaded; whether there are more. */
export const hasMore = computed(() => (cursor.value === null ? null : cursor.value !== ""));

let run = 0;

/** Load the first page anew; what is shown stays until it has come. */
export async function reload(): Promise<void> {
  await load("");
}

export async function loadMore(): Promise<void> {
  if (cursor.value) await load(cursor.value);
}

/** Search titles for `text`. */
export async function search(text: string): Promise<void> {
  words.value = text;
  await reload();
}

/**
 * Say that a conversation has been asked in just now: it comes first. The server's listing follows a second later, so
 * it is not asked.
 */
export function touched(head: { conversation_id: string; title: string }): void {
  const now = new Date().toISOString();
  const before = loaded.value.find((each) => each.conversation_id === head.conversation_id);
  const first = before
    ? { ...before, updated_at: now, message_count: before.message_count + 2 }
    : { ...head, created_at: now, updated_at: now, message_count: 2 };
  loaded.value = [first, ...loaded.value.filter((each) => each !== before)];
}

export async function rename(conversation_id: string, title: string): Promise<void> {
  const path = { conversation_id };
  await data(api().PATCH("/conversations/{conversation_id}", { params: { path }, body: { title } }));
  loaded.value = loaded.value.map((each) => (each.conversation_id === conversation_id ? { ...each, title } : each));
  toast(t("renamed"));
}

/** Take a conversation away; it is erased once the message about it is gone, unless that is undone. */
export function remove(head: ConversationHead): void {
  const { conversation_id } = head;
  const here = route.value.name === "conversation" && route.value.conversation_id === conversation_id;
  hide(conversation_id, true);
  if (here) navigate({ name: "chat" });
  const undo = () => {
    hide(conversation_id, false);
    if (here) navigate({ name: "conversation", conversation_id });
  };
  toast(t("deleted", head.title), { undo, done: () => void erase(conversation_id) });
}

/** Get a conversation as a file, whatever number of pages it takes. */
export async function download(head: ConversationHead, format: "markdown" | "json"): Promise<void> {
  const pages: string[] = [];
  let cursor = "";
  do {
    const query = new URLSearchParams({ format, cursor });
    const response = await send(request(`/conversations/${encodeURIComponent(head.conversation_id)}/export?${query}`));
    pages.push(await response.text());
    cursor = response.headers.get("x-next-cursor") ?? "";
  } while (cursor);
  const file =
    format === "json"
      ? new Blob([joined(pages)], { type: "application/json" })
      : new Blob([pages.join("\n")], { type: "text/markdown" });
  saveFile(file, fileName(head, format));
}

async function erase(conversation_id: string): Promise<void> {
  keepAsked(conversation_id, null);
  try {
    const path = { conversation_id };
    await data(api().DELETE("/conversations/{conversation_id}", { params: { path }, keepalive: true }));
    loaded.value = loaded.value.filter((each) => each.conversation_id !== conversation_id);
  } catch (failure) {
    toast(adviceOn(asProblem(failure)));
  }
  hide(conversation_id, false);
}

function hide(conversation_id: string, hidden: boolean): void {
  const next = new Set(leaving.value);
  if (hidden) next.add(conversation_id);
  else next.delete(conversation_id);
  leaving.value = next;
}

async function load(from: string): Promise<void> {
  run += 1;
  const mine = run;
  loading.value = true;
  error.value = null;
  try {
    const q = words.value.trim();
    const query = { limit: PAGE, ...(from ? { cursor: from } : {}), ...(q ? { q } : {}) };
    const page = await data(api().GET("/conversations", { params: { query } }));
    if (mine !== run) return; // another search is under way
    loaded.value = from ? [...loaded.value, ...page.conversations] : page.conversations;
    cursor.value = page.next_cursor;
  } catch (failure) {
    if (mine === run) error.value = failure;
  }
  if (mine === run) loading.value = false;
}

/** The pages of an export as one conversation. */
function joined(pages: readonly string[]): string {
  const read: { messages: unknown[]; next_cursor: string }[] = pages.map((page) => JSON.parse(page));
  const messages = read.flatMap((page) => page.messages);
  return JSON.stringify({ ...read[0], messages, next_cursor: "" }, null, 2);
}

function fileName(head: ConversationHead, format: "markdown" | "json"): string {
  const plain = head.title
    .replace(/[^\p{L}\p{N}]+/gu, "-")
    .replace(/^-|-$/g, "")
    .slice(0, 60);
  return `${plain || head.conversation_id}.${format === "json" ? "json" : "md"}`;
}
