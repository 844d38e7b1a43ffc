import { useEffect, useMemo, useState } from "preact/hooks";
import { Listing } from "../api/listing.ts";
import { ago, dayAndTime, number, pagesOf } from "../i18n/format.ts";
import { t } from "../i18n/people.ts";
import { Badge } from "../ui/Badge.tsx";
import { Button } from "../ui/Button.tsx";
import { EmptyState } from "../ui/EmptyState.tsx";
import { ErrorNotice } from "../ui/ErrorNotice.tsx";
import { Facts } from "../ui/Facts.tsx";
import { More } from "../ui/More.tsx";
import { Page } from "../ui/Page.tsx";
import { Panel } from "../ui/Panel.tsx";
import { Skeleton } from "../ui/Skeleton.tsx";
import { Tabs } from "../ui/Tabs.tsx";
import { openSource } from "../viewer/pane.ts";
import { listFeedback, type RatedAnswer } from "./calls.ts";
import { FaqDialog } from "./FaqDialog.tsx";
import css from "./FeedbackView.module.css";
import shared from "./people.module.css";

const RATINGS = ["any", "down", "up"] as const;
type Rating = (typeof RATINGS)[number];
const MODES = ["generated", "extractive", "refused", "service"] as const;
/** Characters of an answer that are shown at first. */
const SHORT = 420;

/** What people thought of answers, with question, answer and sources. */
export default function FeedbackView() {
  const [rating, setRating] = useState<Rating>("any");
  const [correcting, setCorrecting] = useState<RatedAnswer | null>(null);
  const listing = useMemo(
    () => new Listing<RatedAnswer>((cursor, stop) => listFeedback(rating === "any" ? null : rating, cursor, stop)),
    [rating],
  );
  useEffect(() => {
    void listing.reload();
    return () => listing.stop();
  }, [listing]);
  return (
    <Page title={t("feedback")} about={t("feedback_lead")}>
      <Tabs
        label={t("rating")}
        value={rating}
        options={RATINGS.map((value) => ({ value, label: t(`rating_${value}`) }))}
        onChange={setRating}
      />
      <Listed listing={listing} filtered={rating !== "any"} correct={setCorrecting} />
      {correcting && (
        <FaqDialog
          faq={null}
          question={correcting.question}
          answers={[correcting.message_id]}
          onSaved={() => undefined}
          onClose={() => setCorrecting(null)}
        />
      )}
    </Page>
  );
}

function Listed(props: { listing: Listing<RatedAnswer>; filtered: boolean; correct: (rated: RatedAnswer) => void }) {
  const { listing } = props;
  const items = listing.items.value;
  const notice = listing.error.value ? (
    <ErrorNotice error={listing.error.value} retry={() => void listing.reload()} />
  ) : null;
  if (items === null) return notice ?? <Skeleton lines={6} label={t("feedback_loading")} />;
  if (items.length === 0 && !listing.next.value) {
    return (
      notice ?? (
        <EmptyState icon="thumbUp" title={t("feedback_none_title")}>
          {t(props.filtered ? "feedback_none_found" : "feedback_none_text")}
        </EmptyState>
      )
    );
  }
  return (
    <>
      {notice}
      <ul class={shared.stack}>
        {items.map((each) => (
          <li key={each.message_id}>
            <Rated rated={each} correct={() => props.correct(each)} />
          </li>
        ))}
      </ul>
      <More listing={listing} />
    </>
  );
}

function Rated({ rated, correct }: { rated: RatedAnswer; correct: () => void }) {
  const { feedback } = rated;
  const down = feedback.rating === "down";
  return (
    <Panel padded>
      <div class={css.head}>
        <span class={css.badges}>
          <Badge tone={down ? "bad" : "good"} icon={down ? "thumbDown" : "thumbUp"}>
            {t(`rating_${feedback.rating}`)}
          </Badge>
          {feedback.reason && <Badge>{t(`reason_${feedback.reason}`)}</Badge>}
        </span>
        <time class={shared.time} dateTime={feedback.updated_at} title={dayAndTime(feedback.updated_at)}>
          {ago(feedback.updated_at)}
        </time>
      </div>
      <div class={shared.tight}>
        <h2 class={css.question}>{rated.question}</h2>
        {rated.rewritten && (
          <p class={shared.soft}>
            {t("searched_as")}: {rated.rewritten}
          </p>
        )}
        <Answer text={rated.answer} />
      </div>
      {feedback.comment && (
        <div class={css.comment}>
          <h3 class={css.small}>{t("said_comment")}</h3>
          <p class={shared.said}>{feedback.comment}</p>
        </div>
      )}
      <Sources rated={rated} />
      <div class={css.foot}>
        <Making rated={rated} />
        {down && (
          <Button size="s" icon="edit" onClick={correct}>
            {t("correct_with_faq")}
          </Button>
        )}
      </div>
    </Panel>
  );
}

function Answer({ text }: { text: string }) {
  const [whole, setWhole] = useState(false);
  const long = text.length > SHORT;
  return (
    <>
      <p class={shared.said}>{long && !whole ? `${text.slice(0, SHORT).trimEnd()}…` : text}</p>
      {long && (
        <button type="button" class={shared.plainLink} aria-expanded={whole} onClick={() => setWhole(!whole)}>
          {t(whole ? "hide_answer" : "show_answer")}
        </button>
      )}
    </>
  );
}

function Sources({ rated }: { rated: RatedAnswer }) {
  const { citations } = rated;
  if (citations.length === 0) return null;
  return (
    <div class={shared.tight}>
      <h3 class={css.small}>{t("sources")}</h3>
      <ul class={css.sources}>
        {citations.map((each, index) => (
          <li key={each.n}>
            <button
              type="button"
              class={shared.plainLink}
              onClick={() =>
                openSource({
                  document_id: each.document_id,
                  title: each.title,
                  citations,
                  index,
                  ...(each.version_id ? { version_id: each.version_id } : {}),
                })
              }
            >
              [{each.n}] {each.title}
            </button>{" "}
            <span class={shared.soft}>{pagesOf(each)}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}

function Making({ rated }: { rated: RatedAnswer }) {
  const mode = MODES.find((each) => each === rated.mode);
  const percent = { style: "percent" } as const;
  const facts: [string, string][] = [
    [t("mode"), mode ? t(`mode_${mode}`) : ""],
    [t("model"), rated.model],
    [t("confidence"), rated.confidence === null ? "" : number(rated.confidence, percent)],
    [t("relevance"), `${number(rated.relevance, percent)} / ${number(rated.threshold, percent)}`],
  ];
  return (
    <details>
      <summary class={css.summary}>{t("details")}</summary>
      <Facts small facts={facts} />
    </details>
  );
}
