import { effect, signal } from "@preact/signals";
import { recall, remember } from "../app/storage.ts";

export type Locale = "en" | "lt";
export const LOCALES: readonly Locale[] = ["en", "lt"];

function first(): Locale {
  const kept = recall("locale");
  if (kept === "en" || kept === "lt") return kept;
  return navigator.language.toLowerCase().startsWith("lt") ? "lt" : "en";
}

/** The language of the page: the one chosen, else the browser's if it is one of ours, else English. */
export const locale = signal<Locale>(first());

export function chooseLocale(chosen: Locale): void {
  locale.value = chosen;
  remember("locale", chosen);
}

effect(() => {
  document.documentElement.lang = locale.value;
});
