/**
 * The widget: `<script src="https://PAGE/widget.js" data-api="https://API" …></script>` puts a button on any site that
 * opens a conversation. It lives in a shadow root, so neither the site's styles nor its own get through. docs/widget.md
 */

import { render } from "preact";
import { Panel } from "./Panel.tsx";
import style from "./style.css?inline";
import { wordsFor } from "./words.ts";

/** What the site may set before the script: who asks. */
interface OnSite {
  token?: () => string | Promise<string>;
}

function start(script: HTMLScriptElement): void {
  const { api, key, lang, title, page } = script.dataset;
  if (!api) throw new Error("Recto's widget needs data-api: the address of the API.");
  const onSite: OnSite = (window as Window & { recto?: OnSite }).recto ?? {};
  const words = wordsFor(lang || document.documentElement.lang);
  const host = document.createElement("recto-widget");
  const root = host.attachShadow({ mode: "open" });
  const sheet = new CSSStyleSheet(); // no style element: the site's policy may forbid them
  sheet.replaceSync(style);
  root.adoptedStyleSheets = [sheet];
  const settings = { api: api.replace(/\/+$/, ""), token: onSite.token ?? (() => key ?? "") };
  render(<Panel settings={settings} words={words} title={title || words.open} page={page ?? ""} />, root);
  document.body.append(host);
}

const script = document.currentScript;
if (script instanceof HTMLScriptElement) {
  if (document.body) start(script);
  else addEventListener("DOMContentLoaded", () => start(script), { once: true });
}
