import { effect, signal } from "@preact/signals";
import { recall, remember } from "./storage.ts";

export type Theme = "light" | "dark" | "system";

const kept = recall("theme");
/** What was chosen: light, dark, or as the system is. */
export const theme = signal<Theme>(kept === "light" || kept === "dark" ? kept : "system");

export function chooseTheme(chosen: Theme): void {
  theme.value = chosen;
  remember("theme", chosen === "system" ? null : chosen);
}

effect(() => {
  if (theme.value === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme.value;
});
