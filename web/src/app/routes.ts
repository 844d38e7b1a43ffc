/** Where one is. Addresses are hashes (`#/c/01J…`), so that any server of files can serve the page. */
export type Route =
  | { name: "chat" }
  | { name: "conversation"; conversation_id: string }
  | { name: "documents" }
  | { name: "document"; document_id: string; page: number | null }
  | { name: "queue" }
  | { name: "handoff"; handoff_id: string }
  | { name: "faqs" }
  | { name: "unanswered" }
  | { name: "feedback" }
  | { name: "admin" }
  | { name: "nowhere" };

export function parse(hash: string): Route {
  const [path = "", query = ""] = hash.replace(/^#/, "").split("?", 2);
  const [first = "", second, ...rest] = path.split("/").filter(Boolean).map(decoded);
  if (rest.length) return { name: "nowhere" };
  if (second !== undefined) {
    if (first === "c") return { name: "conversation", conversation_id: second };
    if (first === "documents") return { name: "document", document_id: second, page: pageOf(query) };
    if (first === "queue") return { name: "handoff", handoff_id: second };
    return { name: "nowhere" };
  }
  if (first === "") return { name: "chat" };
  if (first === "documents" || first === "queue" || first === "faqs") return { name: first };
  if (first === "unanswered" || first === "feedback" || first === "admin") return { name: first };
  return { name: "nowhere" };
}

export function href(to: Route): string {
  switch (to.name) {
    case "chat":
    case "nowhere":
      return "#/";
    case "conversation":
      return `#/c/${encodeURIComponent(to.conversation_id)}`;
    case "document":
      return `#/documents/${encodeURIComponent(to.document_id)}${to.page === null ? "" : `?page=${to.page}`}`;
    case "handoff":
      return `#/queue/${encodeURIComponent(to.handoff_id)}`;
    default:
      return `#/${to.name}`;
  }
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function pageOf(query: string): number | null {
  const page = Number(new URLSearchParams(query).get("page"));
  return Number.isInteger(page) && page > 0 ? page : null;
}
