/** Small things that the browser keeps for this page. A browser that keeps nothing (private windows) is none the worse. */

const PREFIX = "recto.";

/** Keep `value` for the next visit; `null` forgets it. */
export function remember(name: string, value: string | null, store: () => Storage = () => localStorage): void {
  try {
    if (value === null) store().removeItem(PREFIX + name);
    else store().setItem(PREFIX + name, value);
  } catch {
    // full, or forbidden: then it lasts as long as the page
  }
}

export function recall(name: string, store: () => Storage = () => localStorage): string | null {
  try {
    return store().getItem(PREFIX + name);
  } catch {
    return null;
  }
}

/** What lasts as long as the tab, a reload included. */
export const tab = (): Storage => sessionStorage;
