import { effect, type Signal, signal } from "@preact/signals";
import { recall, remember, tab } from "./storage.ts";

const drafts = new Map<string, Signal<string>>();

/** What is being typed in the box called `name`. It outlives the view, a reload and a new sign-in; not the tab, nor signing out. */
export function draft(name: string): Signal<string> {
  let found = drafts.get(name);
  if (!found) {
    const made = signal(recall(`draft.${name}`, tab) ?? "");
    effect(() => remember(`draft.${name}`, made.value || null, tab));
    drafts.set(name, made);
    found = made;
  }
  return found;
}
