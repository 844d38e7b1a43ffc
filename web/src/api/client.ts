/** Calls of the API: typed by its OpenAPI document, with the user's token, errors as `ApiProblem`. */

import createClient, { type Client } from "openapi-fetch";
import { config } from "../app/config.ts";
import { found, lost, timed, watchConnection } from "../app/connection.ts";
import { token, tokenInsteadOf } from "../app/session.ts";
import { locale } from "../i18n/locale.ts";
import { ApiProblem, isAbort, problemOf } from "./problem.ts";
import type { paths } from "./schema";

let client: Client<paths> | undefined;

/**
 * The API's routes: `await data(api().GET("/documents", { params: { query: { limit: 50 } } }))`.
 * `config.json` must be loaded.
 */
export function api(): Client<paths> {
  client ??= createClient<paths>({
    baseUrl: config().api,
    fetch: (request) => (request.method === "GET" ? timed(send(request)) : send(request)),
  });
  return client;
}

/** What a call of `api()` gives, or its problem as an exception. */
export async function data<T>(call: Promise<{ data?: T; response: Response }>): Promise<T> {
  const { data: answer } = await call;
  return answer as T; // openapi-fetch leaves it out with an error only, and `send` has thrown that
}

/** Send a request with the user's token; what is no success is thrown as `ApiProblem`. For streams and files, too. */
export async function send(request: Request): Promise<Response> {
  request.headers.set("accept-language", locale.value);
  const again = request.clone();
  const first = await token();
  let response = await reached(withToken(request, first));
  if (response.status === 401) response = await reached(withToken(again, await tokenInsteadOf(first)));
  if (!response.ok) throw await problemOf(response);
  return response;
}

/** A request to `path` of the API, for `send`. */
export function request(path: string, init?: RequestInit): Request {
  return new Request(`${config().api}${path}`, init);
}

/** Watch whether the API can be reached, and try again while it cannot. */
export function watchApi(): void {
  watchConnection(() => fetch(`${config().api}/healthz`, { cache: "no-store" }));
}

function withToken(request: Request, value: string): Request {
  request.headers.set("authorization", `Bearer ${value}`);
  return request;
}

async function reached(request: Request): Promise<Response> {
  try {
    const response = await fetch(request);
    found();
    return response;
  } catch (error) {
    if (isAbort(error)) throw error;
    lost();
    throw new ApiProblem(0, { code: "unreachable", detail: String(error) });
  }
}
