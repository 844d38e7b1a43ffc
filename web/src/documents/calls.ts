import { api, data } from "../api/client.ts";
import type { Page } from "../api/listing.ts";
import { asProblem } from "../api/problem.ts";
import type { Document, DocumentDetail, DocumentStatus, Erasure } from "../api/types.ts";
import type { Announced } from "./uploads.ts";

const PAGE = 50;
/** Documents that are read one by one; more are looked for among the newest. */
const ONE_BY_ONE = 6;
const NEWEST = 200;

export interface Labels {
  chapter?: string | null;
  phase?: string | null;
  goal?: string | null;
  type?: string | null;
  department_id?: string | null;
  tags?: string[] | null;
  organisation?: string[] | null;
  author?: string[] | null;
  kind?: string | null;
  period?: string[] | null;
  date?: string | null;
  version?: string | null;
  product?: string | null;
}

export async function listDocuments(
  query: { q: string; status: DocumentStatus | null },
  cursor: string,
  signal: AbortSignal,
): Promise<Page<Document>> {
  const params = { query: { limit: PAGE, cursor, q: query.q, ...(query.status ? { status: query.status } : {}) } };
  const { documents, next_cursor } = await data(api().GET("/documents", { params, signal }));
  return { items: documents, next: next_cursor };
}

/** The document, or null if there is none. */
export async function readDocument(document_id: string): Promise<DocumentDetail | null> {
  try {
    return await data(api().GET("/documents/{document_id}", { params: { path: { document_id } } }));
  } catch (error) {
    const { status } = asProblem(error);
    if (status === 404 || status === 410) return null;
    throw error;
  }
}

/** A short-lived link to the document's file. */
export async function linkToFile(document_id: string): Promise<string> {
  return (await data(api().GET("/documents/{document_id}/content", { params: { path: { document_id } } }))).url;
}

let looks = 0;

/** These documents as they are now, as far as few requests tell; of many that are not new, others each time. */
export async function readDocuments(ids: readonly string[]): Promise<Map<string, Document | null>> {
  const found = new Map<string, Document | null>();
  if (ids.length > ONE_BY_ONE) {
    const wanted = new Set(ids);
    const newest = await data(api().GET("/documents", { params: { query: { limit: NEWEST } } }));
    for (const each of newest.documents) if (wanted.has(each.document_id)) found.set(each.document_id, each);
  }
  const others = ids.filter((id) => !found.has(id));
  const first = (looks++ * ONE_BY_ONE) % Math.max(1, others.length);
  for (const id of [...others.slice(first), ...others.slice(0, first)].slice(0, ONE_BY_ONE))
    found.set(id, await readDocument(id));
  return found;
}

export function readReport(document_id: string) {
  return data(api().GET("/documents/{document_id}/report", { params: { path: { document_id } } }));
}

export function labelDocument(document_id: string, labels: Labels): Promise<Document> {
  return data(api().PATCH("/documents/{document_id}", { params: { path: { document_id } }, body: { labels } }));
}

export async function deleteDocument(document_id: string): Promise<void> {
  await data(api().DELETE("/documents/{document_id}", { params: { path: { document_id } }, keepalive: true }));
}

/** Delete a document and have every trace of it erased; returns the id of the erasure. */
export async function eraseDocument(document_id: string): Promise<string> {
  const params = { path: { document_id }, query: { verify: true } };
  const begun = await data(api().DELETE("/documents/{document_id}", { params, keepalive: true }));
  return begun.erasure_id ?? "";
}

export function readErasure(erasure_id: string, signal: AbortSignal): Promise<Erasure> {
  return data(api().GET("/erasures/{erasure_id}", { params: { path: { erasure_id } }, signal }));
}

export async function announceUploads(filenames: string[]): Promise<Announced[]> {
  return (await data(api().POST("/documents/bulk", { body: { filenames } }))).items;
}
