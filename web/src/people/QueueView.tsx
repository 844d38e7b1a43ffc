import { useEffect, useMemo, useState } from "preact/hooks";
import { Listing } from "../api/listing.ts";
import { useEvery } from "../api/loading.ts";
import type { Handoff } from "../api/types.ts";
import { href } from "../app/router.ts";
import { can } from "../app/session.ts";
import { ago, dayAndTime } from "../i18n/format.ts";
import { t } from "../i18n/people.ts";
import { EmptyState } from "../ui/EmptyState.tsx";
import { ErrorNotice } from "../ui/ErrorNotice.tsx";
import { More } from "../ui/More.tsx";
import { Page } from "../ui/Page.tsx";
import { Panel } from "../ui/Panel.tsx";
import { Skeleton } from "../ui/Skeleton.tsx";
import { Tabs } from "../ui/Tabs.tsx";
import { type HandoffStatus, listHandoffs } from "./calls.ts";
import { HandoffBadge, PublicationBadge } from "./HandoffBadge.tsx";
import css from "./people.module.css";

const SHOWN = ["open", "claimed", "resolved", "closed", "all"] as const;
type Shown = (typeof SHOWN)[number];
const LOOK_EVERY_S = 20;

/** The hand-offs: who waits, what is being answered, and what could be published. */
export default function QueueView() {
  const agent = can("agent", "admin");
  const [shown, show] = useState<Shown>(agent ? "open" : "resolved");
  const listing = useMemo(() => {
    const status: HandoffStatus | null = shown === "all" ? null : shown;
    return new Listing<Handoff>((cursor, stop) => listHandoffs(status, cursor, stop));
  }, [shown]);
  useEffect(() => {
    void listing.reload();
    return () => listing.stop();
  }, [listing]);
  useEvery(LOOK_EVERY_S, () => {
    if (!listing.next.value && !listing.loading.value) void listing.reload();
  });
  return (
    <Page title={t("queue")} about={t(agent ? "queue_lead" : "queue_lead_editor")}>
      <Tabs
        label={t("queue_filter")}
        value={shown}
        options={SHOWN.map((value) => ({ value, label: t(`queue_${value}`) }))}
        onChange={show}
      />
      <Listed listing={listing} waiting={shown === "open"} />
    </Page>
  );
}

function Listed({ listing, waiting }: { listing: Listing<Handoff>; waiting: boolean }) {
  const items = listing.items.value;
  const error = listing.error.value;
  const notice = error ? <ErrorNotice error={error} retry={() => void listing.reload()} /> : null;
  if (items === null) return notice ?? <Skeleton lines={6} label={t("queue_loading")} />;
  if (items.length === 0 && !listing.next.value) {
    return (
      notice ?? (
        <EmptyState icon="inbox" title={t(waiting ? "queue_none_open_title" : "queue_none_title")}>
          {t(waiting ? "queue_none_open_text" : "queue_none_text")}
        </EmptyState>
      )
    );
  }
  return (
    <>
      {notice}
      <Panel as="ul" label={t("queue")}>
        {items.map((each) => (
          <Row key={each.handoff_id} handoff={each} />
        ))}
      </Panel>
      <More listing={listing} />
    </>
  );
}

function Row({ handoff }: { handoff: Handoff }) {
  return (
    <li class={css.row}>
      <div class={css.main}>
        <a class={css.title} href={href({ name: "handoff", handoff_id: handoff.handoff_id })}>
          {handoff.question || t("no_question")}
        </a>
        {handoff.reason && <p class={css.snippet}>{handoff.reason}</p>}
      </div>
      <div class={css.side}>
        <span class={css.badges}>
          <PublicationBadge handoff={handoff} />
          <HandoffBadge handoff={handoff} />
        </span>
        <time class={css.time} dateTime={handoff.created_at} title={dayAndTime(handoff.created_at)}>
          {t("waits_since", ago(handoff.created_at))}
        </time>
      </div>
    </li>
  );
}
