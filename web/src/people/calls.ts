import { api, data, request, send } from "../api/client.ts";
import type { Page } from "../api/listing.ts";
import type { components } from "../api/schema";
import type { Faq, Handoff, HandoffDetail } from "../api/types.ts";

type Schemas = components["schemas"];
export type FaqBody = Schemas["FaqBody"];
export type ImportReport = Schemas["ImportOut"];
export type Cluster = Schemas["QuestionClusterOut"];
export type Unanswered = Schemas["UnansweredOut"];
export type RatedAnswer = Schemas["RatedAnswerOut"];
export type NearPassage = Schemas["NearPassageOut"];
export type HandoffStatus = Handoff["status"];

// --- hand-offs ---

export async function listHandoffs(
  status: HandoffStatus | null,
  cursor: string,
  signal: AbortSignal,
): Promise<Page<Handoff>> {
  const params = { query: { cursor, ...(status ? { status } : {}) } };
  const { handoffs, next_cursor } = await data(api().GET("/handoffs", { params, signal }));
  return { items: handoffs, next: next_cursor };
}

export function readHandoff(handoff_id: string, signal?: AbortSignal): Promise<HandoffDetail> {
  return data(api().GET("/handoffs/{handoff_id}", { params: { path: { handoff_id } }, signal: signal ?? null }));
}

export function claimHandoff(handoff_id: string): Promise<Handoff> {
  return data(api().POST("/handoffs/{handoff_id}/claim", { params: { path: { handoff_id } } }));
}

export function releaseHandoff(handoff_id: string): Promise<Handoff> {
  return data(api().POST("/handoffs/{handoff_id}/release", { params: { path: { handoff_id } } }));
}

export function closeHandoff(handoff_id: string): Promise<Handoff> {
  return data(api().POST("/handoffs/{handoff_id}/close", { params: { path: { handoff_id } } }));
}

export function resolveHandoff(handoff_id: string, answer: string, publish: boolean): Promise<Handoff> {
  const body = { answer, publish };
  return data(api().POST("/handoffs/{handoff_id}/resolve", { params: { path: { handoff_id } }, body }));
}

export function publishHandoff(
  handoff_id: string,
  body: { question: string; answer: string; language: string },
): Promise<Handoff> {
  return data(api().POST("/handoffs/{handoff_id}/publish", { params: { path: { handoff_id } }, body }));
}

export function readPassage(passage_id: string) {
  return data(api().GET("/passages/{passage_id}", { params: { path: { passage_id } } }));
}

// --- FAQs ---

export async function listFaqs(cursor: string, signal: AbortSignal): Promise<Page<Faq>> {
  const { faqs, next_cursor } = await data(api().GET("/faqs", { params: { query: { cursor } }, signal }));
  return { items: faqs, next: next_cursor };
}

export function readFaq(faq_id: string): Promise<Faq> {
  return data(api().GET("/faqs/{faq_id}", { params: { path: { faq_id } } }));
}

/** Store an FAQ; `answers` are the unanswered questions that it settles. */
export function createFaq(body: FaqBody, answers: readonly string[]) {
  return data(api().POST("/faqs", { body: { ...body, answers: [...answers] } }));
}

/** Replace the version that `etag` names; another one is a problem `changed_meanwhile`. */
export function replaceFaq(faq_id: string, body: FaqBody, etag: string): Promise<Faq> {
  const params = { path: { faq_id }, header: { "If-Match": `"${etag}"` } };
  return data(api().PUT("/faqs/{faq_id}", { params, body }));
}

export async function deleteFaq(faq_id: string): Promise<void> {
  await data(api().DELETE("/faqs/{faq_id}", { params: { path: { faq_id } }, keepalive: true }));
}

export async function importFaqs(file: Blob): Promise<ImportReport> {
  const headers = { "Content-Type": "text/csv; charset=utf-8" };
  const response = await send(request("/faqs/import", { method: "POST", headers, body: await file.arrayBuffer() }));
  return response.json();
}

/** All FAQs as one CSV file, whatever number of pages they take. */
export async function exportFaqs(): Promise<Blob> {
  const parts: string[] = [];
  for (let cursor = ""; ; ) {
    const response = await send(request(`/faqs/export?cursor=${encodeURIComponent(cursor)}`));
    const page = await response.text();
    parts.push(parts.length > 0 ? page.slice(page.indexOf("\n") + 1) : page);
    cursor = response.headers.get("x-next-cursor") ?? "";
    if (!cursor) return new Blob(parts, { type: "text/csv" });
  }
}

// --- what editors learn from ---

export function readUnanswered(days: number, signal: AbortSignal): Promise<Unanswered> {
  const since = new Date(Date.now() - days * 86_400_000).toISOString();
  return data(api().GET("/insights/unanswered", { params: { query: { since, limit: 50 } }, signal }));
}

export async function listFeedback(
  rating: "up" | "down" | null,
  cursor: string,
  signal: AbortSignal,
): Promise<Page<RatedAnswer>> {
  const params = { query: { cursor, ...(rating ? { rating } : {}) } };
  const { feedback, next_cursor } = await data(api().GET("/feedback", { params, signal }));
  return { items: feedback, next: next_cursor };
}
