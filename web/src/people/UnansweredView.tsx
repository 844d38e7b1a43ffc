import { useState } from "preact/hooks";
import { useLoaded } from "../api/loading.ts";
import { ago, day } from "../i18n/format.ts";
import { t } from "../i18n/people.ts";
import { Badge } from "../ui/Badge.tsx";
import { Button } from "../ui/Button.tsx";
import { EmptyState } from "../ui/EmptyState.tsx";
import { ErrorNotice } from "../ui/ErrorNotice.tsx";
import { Page } from "../ui/Page.tsx";
import { Panel } from "../ui/Panel.tsx";
import { SelectField } from "../ui/SelectField.tsx";
import { Skeleton } from "../ui/Skeleton.tsx";
import { type Cluster, readUnanswered, type Unanswered } from "./calls.ts";
import { FaqDialog } from "./FaqDialog.tsx";
import { NearMisses } from "./NearMisses.tsx";
import css from "./people.module.css";
import own from "./UnansweredView.module.css";

const DAYS = ["7", "30", "90"] as const;

/** Unanswered questions, similar ones together; one FAQ settles a group. */
export default function UnansweredView() {
  const [days, setDays] = useState<string>("30");
  const found = useLoaded((stop) => readUnanswered(Number(days), stop), [days]);
  const [answering, setAnswering] = useState<Cluster | null>(null);
  const settled = (cluster: Cluster) => {
    if (found.value) found.put(without(found.value, cluster));
  };
  return (
    <Page
      title={t("unanswered")}
      about={t("unanswered_lead")}
      actions={
        <SelectField
          label={t("since")}
          value={days}
          onChange={setDays}
          options={DAYS.map((value) => ({ value, label: t("days", Number(value)) }))}
        />
      }
    >
      {found.error !== null && <ErrorNotice error={found.error} retry={found.reload} />}
      {!found.value && found.error === null && <Skeleton lines={6} label={t("unanswered_loading")} />}
      {found.value && <Groups found={found.value} answer={setAnswering} />}
      {answering && (
        <FaqDialog
          faq={null}
          question={answering.examples[0]?.question ?? ""}
          answers={answering.question_ids}
          onSaved={() => settled(answering)}
          onClose={() => setAnswering(null)}
        />
      )}
    </Page>
  );
}

function Groups({ found, answer }: { found: Unanswered; answer: (cluster: Cluster) => void }) {
  if (found.clusters.length === 0) {
    return (
      <EmptyState icon="check" title={t("unanswered_none_title")}>
        {t("unanswered_none_text")}
      </EmptyState>
    );
  }
  return (
    <>
      <p class={css.soft} role="status">
        {t("grouped", found.questions, found.clusters.length)}
        {found.truncated && ` ${t("truncated", found.questions)}`}
      </p>
      <ul class={css.stack}>
        {found.clusters.map((each) => (
          <Group key={each.cluster_id} cluster={each} answer={() => answer(each)} />
        ))}
      </ul>
    </>
  );
}

function Group({ cluster, answer }: { cluster: Cluster; answer: () => void }) {
  const [newest, ...others] = cluster.examples;
  const alike = [...new Set(others.map((each) => each.question))].filter((each) => each !== newest?.question);
  const hidden = cluster.count - cluster.examples.length;
  return (
    <li>
      <Panel padded>
        <div class={own.head}>
          <div class={css.tight}>
            <h2 class={own.question}>{newest?.question}</h2>
            <p class={own.facts}>
              <Badge tone="accent">{t("times", cluster.count)}</Badge>
              {cluster.rated_down > 0 && cluster.refused > 0 && <span>{t("refused", cluster.refused)}</span>}
              {cluster.rated_down > 0 && <span>{t("rated_down", cluster.rated_down)}</span>}
              <time dateTime={cluster.last_asked_at}>{askedWhen(cluster)}</time>
            </p>
          </div>
          <Button icon="edit" onClick={answer}>
            {t("answer_cluster")}
          </Button>
        </div>
        {(alike.length > 0 || hidden > 0) && (
          <div class={css.tight}>
            <h3 class={own.small}>{t("also_asked")}</h3>
            <ul class={own.alike}>
              {alike.map((each) => (
                <li key={each}>{each}</li>
              ))}
              {hidden > 0 && <li class={css.soft}>{t("and_more", hidden)}</li>}
            </ul>
          </div>
        )}
        {cluster.nearest.length > 0 && (
          <details>
            <summary class={own.summary}>{t("near")}</summary>
            <div class={own.nearest}>
              <NearMisses passages={cluster.nearest} />
            </div>
          </details>
        )}
      </Panel>
    </li>
  );
}

/** When it was asked last, and first if that was on another day. */
function askedWhen({ first_asked_at, last_asked_at }: Cluster): string {
  const isOneDay = day(first_asked_at) === day(last_asked_at);
  return isOneDay ? ago(last_asked_at) : t("asked_last", ago(last_asked_at), day(first_asked_at));
}

function without(found: Unanswered, cluster: Cluster): Unanswered {
  const clusters = found.clusters.filter((each) => each.cluster_id !== cluster.cluster_id);
  return { ...found, clusters, questions: found.questions - cluster.count };
}
