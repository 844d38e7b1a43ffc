import { useEffect } from "preact/hooks";
import { conversations } from "../conversations/list.ts";
import { t } from "../i18n/frame.ts";
import type { Route } from "./router.ts";

/** Name the browser's tab after where one is. */
export function useTitle(at: Route): void {
  const name = nameOf(at);
  useEffect(() => {
    document.title = name ? `${name} · Recto` : "Recto";
  }, [name]);
}

function nameOf(at: Route): string {
  switch (at.name) {
    case "conversation":
      return conversations.value.find((each) => each.conversation_id === at.conversation_id)?.title ?? "";
    case "chat":
    case "nowhere":
      return "";
    case "document":
      return t("documents");
    case "handoff":
      return t("queue");
    default:
      return t(at.name);
  }
}
