import { useState } from "preact/hooks";
import { useEvery, useLoaded } from "../api/loading.ts";
import { asProblem } from "../api/problem.ts";
import type { Handoff, HandoffDetail } from "../api/types.ts";
import { adviceOn } from "../app/advice.ts";
import { href } from "../app/router.ts";
import { can } from "../app/session.ts";
import { ago, dayAndTime } from "../i18n/format.ts";
import { t } from "../i18n/people.ts";
import { BackLink } from "../ui/BackLink.tsx";
import { Button } from "../ui/Button.tsx";
import { Dialog } from "../ui/Dialog.tsx";
import { EmptyState } from "../ui/EmptyState.tsx";
import { ErrorNotice } from "../ui/ErrorNotice.tsx";
import { Page } from "../ui/Page.tsx";
import { Panel } from "../ui/Panel.tsx";
import { Skeleton } from "../ui/Skeleton.tsx";
import { toast } from "../ui/toast.ts";
import { AnswerForm } from "./AnswerForm.tsx";
import { claimHandoff, closeHandoff, readHandoff, releaseHandoff } from "./calls.ts";
import { HandoffBadge, isMine, PublicationBadge } from "./HandoffBadge.tsx";
import css from "./HandoffView.module.css";
import { NearMisses } from "./NearMisses.tsx";
import { PublishDialog } from "./PublishDialog.tsx";
import shared from "./people.module.css";

const LOOK_EVERY_S = 20;
const REFUSALS = ["no_relevant_info", "not_mentioned", "model_does_not_know", "nothing_proven"] as const;

/** One hand-off, for those who answer it. */
export default function HandoffView({ handoff_id }: { handoff_id: string }) {
  const { value, error, reload, put } = useLoaded((stop) => readHandoff(handoff_id, stop), [handoff_id]);
  useEvery(LOOK_EVERY_S, reload);
  const back = <BackLink href="#/queue">{t("back_to_queue")}</BackLink>;
  const gone = error !== null && asProblem(error).status === 404;
  if (gone) {
    return (
      <EmptyState icon="inbox" title={t("handoff_gone_title")} action={back}>
        {t("handoff_gone_text")}
      </EmptyState>
    );
  }
  if (!value) {
    return (
      <Page before={back} title={t("handoff")}>
        {error ? <ErrorNotice error={error} retry={reload} /> : <Skeleton lines={6} />}
      </Page>
    );
  }
  return (
    <Page before={back} title={value.question || t("no_question")} about={<About handoff={value} />}>
      <div class={css.columns}>
        <div class={shared.stack}>
          <Conversation handoff={value} />
          <Near handoff={value} />
        </div>
        <Desk handoff={value} onChange={(now) => put({ ...value, ...now })} reload={reload} />
      </div>
    </Page>
  );
}

function About({ handoff }: { handoff: Handoff }) {
  return (
    <span class={css.about}>
      <HandoffBadge handoff={handoff} />
      <PublicationBadge handoff={handoff} />
      <time dateTime={handoff.created_at} title={dayAndTime(handoff.created_at)}>
        {t("waits_since", ago(handoff.created_at))}
      </time>
    </span>
  );
}

function Conversation({ handoff }: { handoff: HandoffDetail }) {
  const agent = can("agent", "admin");
  return (
    <Panel as="section" label={t("conversation")} padded>
      <h2 class={shared.heading}>{t("conversation")}</h2>
      {handoff.transcript.length === 0 ? (
        <p class={shared.soft}>{t(agent ? "conversation_gone" : "conversation_hidden")}</p>
      ) : (
        <ol class={css.transcript}>
          {handoff.transcript.map((each, index) => (
            <li key={`${each.created_at}-${index}`} class={css.turn} data-role={each.role}>
              <p class={css.who}>
                {each.role === "user" || each.role === "agent" ? t(`said_${each.role}`) : t("said_assistant")}
                <time dateTime={each.created_at} title={dayAndTime(each.created_at)}>
                  {ago(each.created_at)}
                </time>
              </p>
              <p class={shared.said}>{each.content}</p>
            </li>
          ))}
        </ol>
      )}
    </Panel>
  );
}

function Near({ handoff }: { handoff: HandoffDetail }) {
  const why = REFUSALS.find((each) => each === handoff.refusal);
  return (
    <Panel as="section" label={t("near")} padded>
      <div class={shared.tight}>
        <h2 class={shared.heading}>{t("near")}</h2>
        {why && <p class={shared.soft}>{t(`refusal_${why}`)}</p>}
        <p class={shared.soft}>{t(handoff.near_misses.length ? "near_hint" : "near_none")}</p>
      </div>
      {handoff.near_misses.length > 0 && <NearMisses passages={handoff.near_misses} />}
    </Panel>
  );
}

interface DeskProps {
  handoff: HandoffDetail;
  onChange: (now: Handoff) => void;
  reload: () => void;
}

/** What the one who asks wants, and what one can do about it. */
function Desk({ handoff, onChange, reload }: DeskProps) {
  return (
    <aside class={css.desk}>
      <Panel padded>
        {handoff.reason && <Told name={t("reason")}>{handoff.reason}</Told>}
        {handoff.contact && <Told name={t("contact")}>{handoff.contact}</Told>}
        {handoff.answer && (
          <Told name={isMine(handoff) ? `${t("the_answer")} (${t("answered_by_you")})` : t("the_answer")}>
            {handoff.answer}
          </Told>
        )}
        <Doing handoff={handoff} onChange={onChange} reload={reload} />
      </Panel>
    </aside>
  );
}

function Told({ name, children }: { name: string; children: string }) {
  return (
    <div class={shared.tight}>
      <h3 class={css.small}>{name}</h3>
      <p class={shared.said}>{children}</p>
    </div>
  );
}

function Doing({ handoff, onChange, reload }: DeskProps) {
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>("");
  const [asking, setAsking] = useState<"close" | "publish" | null>(null);
  const act = async (call: () => Promise<Handoff>, told: string) => {
    setBusy(true);
    setProblem("");
    try {
      onChange(await call());
      toast(told);
    } catch (error) {
      const known = asProblem(error);
      setProblem(known.status === 409 && known.detail ? `${t("conflict_title")}: ${known.detail}` : adviceOn(known));
      if (known.status === 409) reload();
    }
    setBusy(false);
  };
  const { handoff_id } = handoff;
  return (
    <>
      {problem && (
        <p class={css.problem} role="alert">
          {problem}
        </p>
      )}
      <Steps
        handoff={handoff}
        busy={busy}
        claim={() => void act(() => claimHandoff(handoff_id), t("claimed"))}
        release={() => void act(() => releaseHandoff(handoff_id), t("released"))}
        ask={setAsking}
        onChange={onChange}
        reload={reload}
      />
      {asking === "close" && (
        <Dialog
          title={t("close_title")}
          onClose={() => setAsking(null)}
          actions={
            <>
              <Button onClick={() => setAsking(null)}>{t("cancel")}</Button>
              <Button
                kind="danger"
                onClick={() => {
                  setAsking(null);
                  void act(() => closeHandoff(handoff_id), t("closed"));
                }}
              >
                {t("close_handoff")}
              </Button>
            </>
          }
        >
          <p>{t("close_text")}</p>
        </Dialog>
      )}
      {asking === "publish" && (
        <PublishDialog handoff={handoff} onPublished={onChange} onClose={() => setAsking(null)} />
      )}
    </>
  );
}

interface StepsProps extends DeskProps {
  busy: boolean;
  claim: () => void;
  release: () => void;
  ask: (about: "close" | "publish") => void;
}

/** The next steps that the hand-off's status and one's roles allow. */
function Steps({ handoff, busy, claim, release, ask, onChange, reload }: StepsProps) {
  const agent = can("agent", "admin");
  const mine = isMine(handoff);
  const close = (
    <Button kind="quiet" disabled={busy} onClick={() => ask("close")}>
      {t("close_handoff")}
    </Button>
  );
  if (handoff.status === "open" && agent) {
    return (
      <>
        <p class={shared.soft}>{t("claim_hint")}</p>
        <div class={shared.buttons}>
          <Button kind="primary" busy={busy} onClick={claim}>
            {t("claim")}
          </Button>
          {close}
        </div>
      </>
    );
  }
  if (handoff.status === "claimed" && agent) {
    return (
      <>
        {mine ? (
          <AnswerForm handoff={handoff} onAnswered={onChange} onConflict={reload} />
        ) : (
          <p class={shared.soft}>{t("claimed_by_other")}</p>
        )}
        {(mine || can("admin")) && (
          <div class={shared.buttons}>
            <Button kind="quiet" disabled={busy} onClick={release}>
              {t(mine ? "release" : "release_other")}
            </Button>
            {close}
          </div>
        )}
      </>
    );
  }
  if (handoff.status === "resolved" && can("editor", "admin")) {
    const published = handoff.publication === "published";
    return (
      <div class={shared.buttons}>
        <Button kind={published ? "secondary" : "primary"} onClick={() => ask("publish")}>
          {t(published ? "publish_again" : "publish")}
        </Button>
        {published && (
          <a class={css.link} href={href({ name: "document", document_id: handoff.document_id, page: null })}>
            {t("see_document")}
          </a>
        )}
      </div>
    );
  }
  return null;
}
