import { computed, signal } from "@preact/signals";
import { href, parse, type Route } from "./routes.ts";

export { href, type Route } from "./routes.ts";

const hash = signal(location.hash);
/** Counts the times that somebody went somewhere; not when the address of where they are gets its final form. */
export const visits = signal(0);

addEventListener("hashchange", () => arrive(true));

export const route = computed(() => parse(hash.value));

/** Go somewhere; with `replace` it is the same place by another address, and the way back does not lead through here. */
export function navigate(to: Route, { replace = false } = {}): void {
  history[replace ? "replaceState" : "pushState"](null, "", href(to));
  arrive(!replace);
}

function arrive(visit: boolean): void {
  if (hash.value === location.hash) return;
  hash.value = location.hash;
  if (visit) visits.value += 1;
}
