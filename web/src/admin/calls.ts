import { api, data, request, send } from "../api/client.ts";
import type { Page } from "../api/listing.ts";
import type { components } from "../api/schema";
import type { ApiKey } from "../api/types.ts";

type Schemas = components["schemas"];
export type NewKey = Schemas["NewKeyOut"];
export type KeyRole = ApiKey["role"];
export type UsageReport = Schemas["UsageReportOut"];
export type UsageLine = Schemas["UsageLineOut"];
export type Grouping = UsageReport["by"];
export type Health = Schemas["AdminHealthOut"];
export type Provider = Schemas["ProviderOut"];

export async function listKeys(cursor: string, signal?: AbortSignal): Promise<Page<ApiKey>> {
  const params = { query: { cursor } };
  const { keys, next_cursor } = await data(api().GET("/keys", { params, signal: signal ?? null }));
  return { items: keys, next: next_cursor };
}

export function createKey(name: string, role: KeyRole, expires_at: string | null): Promise<NewKey> {
  return data(api().POST("/keys", { body: { name, role, ...(expires_at ? { expires_at } : {}) } }));
}

export async function revokeKey(key_id: string): Promise<void> {
  await data(api().DELETE("/keys/{key_id}", { params: { path: { key_id } } }));
}

export function readUsage(from: string, to: string, by: Grouping, signal: AbortSignal): Promise<UsageReport> {
  return data(api().GET("/admin/usage", { params: { query: { from, to, by } }, signal })) as Promise<UsageReport>;
}

export async function usageCsv(from: string, to: string, by: Grouping): Promise<Blob> {
  const query = new URLSearchParams({ from, to, by, format: "csv" });
  return (await send(request(`/admin/usage?${query}`))).blob();
}

export function readHealth(signal: AbortSignal): Promise<Health> {
  return data(api().GET("/admin/health", { signal }));
}
