/** Authorization code with proof key for code exchange, as a public client: RFC 6749 and RFC 7636. */

import type { SignInConfig } from "./config.ts";

export interface Tokens {
  /** What the API is called with. */
  id_token: string;
  refresh_token: string | null;
  /** Milliseconds since 1970, by this computer's clock. */
  expires_at: number;
}

/** What has to be remembered until the provider sends the browser back. */
export interface Pending {
  state: string;
  verifier: string;
  /** The address within the page to return to. */
  hash: string;
}

/** The provider says that the code or the refresh token is not good (any more). */
export class NotGranted extends Error {}

export function begin(hash: string): Pending {
  return { state: random(), verifier: random(), hash };
}

export async function authorizeUrl(to: SignInConfig, pending: Pending): Promise<string> {
  const url = new URL(to.authorize_url, document.baseURI);
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(pending.verifier));
  const wanted = {
    response_type: "code",
    client_id: to.client_id,
    redirect_uri: redirectUri(to),
    scope: to.scope ?? "openid email",
    state: pending.state,
    code_challenge: base64url(new Uint8Array(digest)),
    code_challenge_method: "S256",
    ...(to.identity_provider ? { identity_provider: to.identity_provider } : {}),
  };
  for (const [name, value] of Object.entries(wanted)) url.searchParams.set(name, value);
  return url.href;
}

export function logoutUrl(to: SignInConfig): string {
  const url = new URL(to.logout_url, document.baseURI);
  url.searchParams.set("client_id", to.client_id);
  url.searchParams.set("logout_uri", redirectUri(to));
  return url.href;
}

/** Change the code for tokens. Raises `NotGranted`, or TypeError where the provider cannot be reached. */
export async function exchange(to: SignInConfig, code: string, verifier: string): Promise<Tokens> {
  const grant = { grant_type: "authorization_code", code, code_verifier: verifier, redirect_uri: redirectUri(to) };
  return asked(to, grant, null);
}

/** Get new tokens for a refresh token; the provider may send another one of these, too. Raises as `exchange`. */
export async function refresh(to: SignInConfig, refresh_token: string): Promise<Tokens> {
  return asked(to, { grant_type: "refresh_token", refresh_token }, refresh_token);
}

/** Tell the provider that the refresh token is not needed any more; it does not matter whether that is heard. */
export async function revoke(to: SignInConfig, refresh_token: string): Promise<void> {
  if (!to.revoke_url) return;
  const body = new URLSearchParams({ token: refresh_token, client_id: to.client_id });
  await fetch(new URL(to.revoke_url, document.baseURI), { method: "POST", body, keepalive: true }).catch(
    () => undefined,
  );
}

/** The claims of a JWT, unverified: the API verifies, the page only shows. Null for what is no JWT. */
export function claimsOf(token: string): Record<string, unknown> | null {
  try {
    const [, payload = ""] = token.split(".");
    const bytes = Uint8Array.from(atob(payload.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
    const claims: unknown = JSON.parse(new TextDecoder().decode(bytes));
    return typeof claims === "object" && claims !== null ? { ...claims } : null;
  } catch {
    return null;
  }
}

async function asked(to: SignInConfig, grant: Record<string, string>, kept: string | null): Promise<Tokens> {
  const body = new URLSearchParams({ ...grant, client_id: to.client_id });
  const response = await fetch(new URL(to.token_url, document.baseURI), { method: "POST", body });
  if (response.status >= 400 && response.status < 500 && response.status !== 429) {
    throw new NotGranted(`the sign-in provider answered ${response.status}`);
  }
  if (!response.ok) throw new TypeError(`the sign-in provider answered ${response.status}`);
  const answer: { id_token: string; refresh_token?: string; expires_in?: number } = await response.json();
  return {
    id_token: answer.id_token,
    refresh_token: answer.refresh_token ?? kept,
    expires_at: Date.now() + (answer.expires_in ?? 3600) * 1000,
  };
}

function redirectUri(to: SignInConfig): string {
  return to.redirect_uri ?? `${location.origin}${location.pathname}`;
}

function random(): string {
  return base64url(crypto.getRandomValues(new Uint8Array(32)));
}

function base64url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replace(/=+$/, "");
}
