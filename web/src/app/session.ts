/** Who is signed in, and the token that the API is called with. Why tokens lie where they lie: docs/decisions/0033. */

import { signal } from "@preact/signals";
import { dismissAll } from "../ui/toast.ts";
import { config, type SignInConfig } from "./config.ts";
import {
  authorizeUrl,
  begin,
  claimsOf,
  exchange,
  logoutUrl,
  NotGranted,
  type Pending,
  refresh,
  revoke,
  type Tokens,
} from "./pkce.ts";
import { recall, remember, tab } from "./storage.ts";

export type Role = "reader" | "editor" | "agent" | "admin";

export interface Session {
  /** The provider's id of the user. */
  user: string;
  email: string;
  tenant: string;
  roles: readonly Role[];
}

/** Null: nobody is signed in, and the start page is shown. */
export const session = signal<Session | null>(null);
/** The session has ended in the middle of something: the page stays as it is and asks to sign in again. */
export const ended = signal(false);

/** Whether the user has one of these roles. The API checks again: this only decides what is shown. */
export function can(...roles: Role[]): boolean {
  return session.value?.roles.some((role) => roles.includes(role)) ?? false;
}

type Start = "denied" | "for another window" | null;

const ROLES: readonly Role[] = ["reader", "editor", "agent", "admin"];
const EARLY_MS = 60_000; // a token is renewed this long before it ends
const CHANNEL = "recto.sign-in";

let tokens: Tokens | null = null;
let renewing: Promise<Tokens> | null = null;
let waiting: { resolve: (token: string) => void; reject: (error: Error) => void }[] = [];

/**
 * Take up the session: from a provider that has just sent the browser back, from this tab, or from `config.token`.
 * Returns what there is to say about it: the provider has let nobody in, or this window was only there to sign in for
 * another one and can be closed.
 */
export async function startSession(): Promise<Start> {
  const returned = new URLSearchParams(location.search);
  const state = returned.get("state");
  if (state && (returned.has("code") || returned.has("error"))) return comeBack(returned, state);
  const { token: given, sign_in } = config();
  if (given) signInWithToken(given);
  else adopt(kept());
  if (sign_in && tokens?.refresh_token && isEnding(tokens)) await takeUp(sign_in, tokens.refresh_token);
  return null;
}

/** A token that is good for the next minute. Waits for a new sign-in if the session has ended. */
export async function token(): Promise<string> {
  if (ended.value || !tokens) return signedInAgain();
  return isEnding(tokens) ? renewed() : tokens.id_token;
}

/** Another token than `refused`, which the API did not take. */
export async function tokenInsteadOf(refused: string): Promise<string> {
  if (tokens && tokens.id_token !== refused && !ended.value) return tokens.id_token;
  return renewed();
}

/** Send the browser to the provider; it returns to where one is now. */
export async function signIn(): Promise<void> {
  const { sign_in } = config();
  if (!sign_in) return;
  const pending = begin(location.hash);
  remember("pending", JSON.stringify(pending), tab);
  location.assign(await authorizeUrl(sign_in, pending));
}

/**
 * Sign in again in a window of its own, so that this page keeps what it shows, typed text and a running answer
 * included; done when that window is. Where the browser allows no such window, the whole page goes.
 */
export async function signInAgain(): Promise<void> {
  const { sign_in } = config();
  if (!sign_in) return;
  const popup = window.open("", "_blank", "popup,width=480,height=720"); // before any await: it needs the click
  if (!popup) return signIn();
  const pending = begin(location.hash);
  popup.location.href = await authorizeUrl(sign_in, pending);
  const code = await codeFrom(new BroadcastChannel(CHANNEL), pending.state);
  if (code) continueAs(await exchange(sign_in, code, pending.verifier));
}

/** Sign in with a token that was given by hand; where there is no provider. Says whether it is one. */
export function signInWithToken(id_token: string): boolean {
  const claims = claimsOf(id_token);
  if (!claims || typeof claims.exp !== "number") return false;
  const given = { id_token, refresh_token: null, expires_at: claims.exp * 1000 };
  if (ended.value) continueAs(given);
  else adopt(given);
  return true;
}

export async function signOut(): Promise<void> {
  const { sign_in } = config();
  dismissAll(); // a deletion that could still be undone takes the token
  const refresh_token = tokens?.refresh_token;
  forget();
  if (!sign_in) return location.reload();
  if (refresh_token) await revoke(sign_in, refresh_token);
  location.assign(logoutUrl(sign_in));
}

/** The code that the window of this sign-in comes back with; null if the sign-in was denied. */
function codeFrom(channel: BroadcastChannel, state: string): Promise<string | null> {
  return new Promise((resolve) => {
    channel.onmessage = ({ data }: MessageEvent<{ state: string; code: string | null }>) => {
      if (data.state !== state) return;
      channel.close();
      resolve(data.code);
    };
  });
}

function isEnding(these: Tokens): boolean {
  return these.expires_at - EARLY_MS < Date.now();
}

/** Renew a session that this tab has kept; one that is over is no reason to interrupt anything yet. */
async function takeUp(sign_in: SignInConfig, refresh_token: string): Promise<void> {
  try {
    adopt(await refresh(sign_in, refresh_token));
  } catch (error) {
    if (error instanceof NotGranted) adopt(null);
  }
}

async function comeBack(returned: URLSearchParams, state: string): Promise<Start> {
  const code = returned.get("code");
  const pending = pendingOf(state);
  if (!pending) {
    // See `signInAgain`. A browser need not let this window close itself.
    new BroadcastChannel(CHANNEL).postMessage({ state, code });
    window.close();
    return "for another window";
  }
  remember("pending", null, tab);
  history.replaceState(null, "", `${location.pathname}${pending.hash}`);
  dispatchEvent(new HashChangeEvent("hashchange")); // replaceState tells nobody
  const { sign_in } = config();
  if (!code || !sign_in) return "denied";
  try {
    adopt(await exchange(sign_in, code, pending.verifier));
    return null;
  } catch (error) {
    if (error instanceof NotGranted) return "denied";
    throw error;
  }
}

function pendingOf(state: string): Pending | null {
  const pending: Pending | null = JSON.parse(recall("pending", tab) ?? "null");
  return pending?.state === state ? pending : null;
}

function renewed(): Promise<string> {
  const { sign_in } = config();
  const refresh_token = tokens?.refresh_token;
  if (!sign_in || !refresh_token) return signedInAgain();
  renewing ??= refresh(sign_in, refresh_token).finally(() => {
    renewing = null;
  });
  return renewing.then(
    (fresh) => {
      if (tokens) adopt(fresh); // whoever has signed out meanwhile stays signed out
      return fresh.id_token;
    },
    (error: unknown) => {
      if (error instanceof NotGranted) return signedInAgain();
      throw error; // the provider cannot be reached: that is no end of the session
    },
  );
}

function signedInAgain(): Promise<string> {
  ended.value = session.value !== null;
  if (!ended.value) return Promise.reject(new Error("nobody is signed in"));
  return new Promise((resolve, reject) => waiting.push({ resolve, reject }));
}

function continueAs(fresh: Tokens): void {
  const [before, now] = [session.value, sessionOf(fresh.id_token)];
  if (before?.user !== now?.user || before?.tenant !== now?.tenant) {
    forget(); // somebody else: nothing of the page is theirs
    adopt(fresh);
    location.assign("./");
    return;
  }
  adopt(fresh);
  ended.value = false;
  const served = waiting;
  waiting = [];
  for (const { resolve } of served) resolve(fresh.id_token);
}

function adopt(fresh: Tokens | null): void {
  tokens = fresh;
  session.value = fresh && sessionOf(fresh.id_token);
  if (session.value) claimTab(session.value);
  remember("tokens", fresh && JSON.stringify(fresh), tab);
}

/** Clear what the tab has of somebody else, whose session was over without a sign-out. */
function claimTab({ tenant, user }: Session): void {
  const owner = JSON.stringify([tenant, user]);
  const former = recall("owner", tab);
  if (former !== null && former !== owner) clearTab();
  remember("owner", owner, tab);
}

function kept(): Tokens | null {
  return JSON.parse(recall("tokens", tab) ?? "null");
}

function forget(): void {
  adopt(null);
  clearTab(); // what was typed is the user's, too
}

function clearTab(): void {
  try {
    sessionStorage.clear();
  } catch {
    // it keeps nothing anyway
  }
}

function sessionOf(id_token: string): Session | null {
  const claims = claimsOf(id_token);
  if (!claims) return null;
  const groups = Array.isArray(claims["cognito:groups"]) ? claims["cognito:groups"] : [];
  const roles = ROLES.filter((role) => groups.includes(role));
  return {
    user: String(claims.sub ?? ""),
    email: String(claims.email ?? claims["cognito:username"] ?? ""),
    tenant: String(claims["custom:tenant"] ?? ""),
    roles: roles.length ? roles : ["reader"],
  };
}
