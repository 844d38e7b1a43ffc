import type { Handoff } from "../api/types.ts";
import { session } from "../app/session.ts";
import { t } from "../i18n/people.ts";
import { Badge } from "../ui/Badge.tsx";

export const isMine = (handoff: Handoff): boolean => handoff.claimed_by === session.value?.user;

/** A hand-off's status in words. */
export function HandoffBadge({ handoff }: { handoff: Handoff }) {
  switch (handoff.status) {
    case "open":
      return <Badge tone="warn">{t("handoff_open")}</Badge>;
    case "claimed":
      return isMine(handoff) ? (
        <Badge tone="accent">{t("handoff_claimed_mine")}</Badge>
      ) : (
        <Badge>{t("handoff_claimed")}</Badge>
      );
    case "resolved":
      return <Badge tone="good">{t("handoff_resolved")}</Badge>;
    case "closed":
      return <Badge>{t("handoff_closed")}</Badge>;
  }
}

/** Whether its answer serves others, or waits for an editor; nothing where neither. */
export function PublicationBadge({ handoff }: { handoff: Handoff }) {
  if (handoff.publication === "published") return <Badge tone="good">{t("published")}</Badge>;
  if (handoff.publication === "requested") return <Badge tone="warn">{t("to_publish")}</Badge>;
  return null;
}
