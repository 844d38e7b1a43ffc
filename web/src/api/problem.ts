import type { components } from "./schema";

type Body = components["schemas"]["Problem"];

/** What a page says about an error that the API did not describe itself. */
const BY_STATUS: Record<number, string> = {
  401: "not_authenticated",
  403: "not_allowed",
  404: "not_found",
  413: "too_large",
};

/** An error of the API: problem details, or `unreachable` (status 0) where there was no answer at all. */
export class ApiProblem extends Error {
  readonly status: number;
  /** Stable; the words for it are in i18n, `frame`. */
  readonly code: string;
  readonly detail: string;
  readonly request_id: string;
  /** Seconds to wait before trying again, if the API says so. */
  readonly retry_after: number | null;
  /** All that the API said: `errors`, `limit`, `resets_at`, `path`. */
  readonly body: Partial<Body>;

  constructor(status: number, body: Partial<Body>, retry_after: number | null = null) {
    super(body.detail ?? body.title ?? `HTTP ${status}`);
    this.name = "ApiProblem";
    this.status = status;
    this.code = body.code ?? BY_STATUS[status] ?? "failed";
    this.detail = body.detail ?? "";
    this.request_id = body.request_id ?? "";
    this.retry_after = retry_after;
    this.body = body;
  }

  /** Whether the same request may succeed later: also once signed in again, or when another change has been made. */
  get passing(): boolean {
    return this.status <= 0 || [401, 409, 429].includes(this.status) || this.status >= 500;
  }
}

/** The problem that a response stands for. */
export async function problemOf(response: Response): Promise<ApiProblem> {
  const seconds = Number(response.headers.get("retry-after"));
  const body: unknown = await response.json().catch(() => null);
  const known: Partial<Body> = typeof body === "object" && body !== null ? body : {};
  return new ApiProblem(response.status, known, seconds > 0 ? seconds : null);
}

/** `error` as a problem, whatever was thrown. */
export function asProblem(error: unknown): ApiProblem {
  if (error instanceof ApiProblem) return error;
  return new ApiProblem(error instanceof TypeError ? 0 : -1, {
    code: error instanceof TypeError ? "unreachable" : "failed",
    detail: error instanceof Error ? error.message : String(error),
  });
}

/** Whether somebody gave up waiting, which is no error. */
export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}
