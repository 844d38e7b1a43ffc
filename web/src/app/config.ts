/** Where things are: `config.json` beside the page, written by whoever serves it. */

export interface SignInConfig {
  authorize_url: string;
  token_url: string;
  logout_url: string;
  client_id: string;
  /** Ends the refresh token; RFC 7009. */
  revoke_url?: string;
  /** "openid email" unless said otherwise. */
  scope?: string;
  /** Where the provider sends the browser back to: this page unless said otherwise. */
  redirect_uri?: string;
  /** Names the provider that Cognito hands the browser on to (a company's own). */
  identity_provider?: string;
}

export interface Config {
  /** The API's address, without a slash at its end; relative to the page if it does not begin with `http`. */
  api: string;
  /** Null where there is no provider: then a token is asked for. */
  sign_in: SignInConfig | null;
  /** Shown on the start page, on the laptop: who to sign in as. */
  hint?: string;
  /** The most characters of a question, if the operator has changed them. */
  max_question_characters?: number;
  /** A token to begin with, while developing. */
  token?: string;
}

let current: Config | undefined;

export async function loadConfig(): Promise<Config> {
  const response = await fetch("./config.json", { cache: "no-cache" });
  if (!response.ok) throw new Error(`config.json: ${response.status}`);
  const loaded: Config = await response.json();
  current = { ...loaded, api: new URL(loaded.api, document.baseURI).href.replace(/\/+$/, "") };
  return current;
}

export function config(): Config {
  if (!current) throw new Error("config.json is not loaded yet");
  return current;
}
