import { useState } from "preact/hooks";
import type { Page } from "../api/listing.ts";
import { useLoaded } from "../api/loading.ts";
import { asProblem } from "../api/problem.ts";
import type { ApiKey } from "../api/types.ts";
import { adviceOn } from "../app/advice.ts";
import { t } from "../i18n/admin.ts";
import { day, number } from "../i18n/format.ts";
import { Button } from "../ui/Button.tsx";
import { DateField } from "../ui/DateField.tsx";
import { EmptyState } from "../ui/EmptyState.tsx";
import { ErrorNotice } from "../ui/ErrorNotice.tsx";
import { Panel } from "../ui/Panel.tsx";
import { Scroller } from "../ui/Scroller.tsx";
import { SelectField } from "../ui/SelectField.tsx";
import { Skeleton } from "../ui/Skeleton.tsx";
import { saveFile } from "../ui/saveFile.ts";
import { toast } from "../ui/toast.ts";
import css from "./admin.module.css";
import { type Grouping, listKeys, readUsage, type UsageLine, type UsageReport, usageCsv } from "./calls.ts";
import { dayOf, daysBefore, isRange } from "./days.ts";
import { UsageChart } from "./UsageChart.tsx";

const GROUPINGS: readonly Grouping[] = ["day", "user", "model"];
const DEFAULT_DAYS = 29;
const KEY_PREFIX = "key:";

/** What was asked, and what it cost, by day, user or model. */
export function UsagePart() {
  const today = dayOf(new Date());
  const [from, setFrom] = useState(daysBefore(today, DEFAULT_DAYS));
  const [to, setTo] = useState(today);
  const [by, setBy] = useState<Grouping>("day");
  const valid = isRange(from, to);
  const usage = useLoaded(
    async (stop) => {
      if (!isRange(from, to)) return null;
      const [report, names] = await Promise.all([readUsage(from, to, by, stop), by === "user" ? keyNames(stop) : null]);
      return { report, names: names ?? new Map<string, string>() };
    },
    [from, to, by],
  );
  return (
    <>
      <div class={css.range}>
        <DateField label={t("from")} value={from} max={to} onInput={setFrom} />
        <DateField label={t("to")} value={to} min={from} max={today} onInput={setTo} />
        <SelectField
          label={t("by")}
          value={by}
          onChange={(value) => setBy(GROUPINGS.find((each) => each === value) ?? "day")}
          options={GROUPINGS.map((value) => ({ value, label: t(`by_${value}`) }))}
        />
        <Download from={from} to={to} by={by} disabled={!valid} />
      </div>
      {!valid && (
        <p class={css.wrong} role="alert">
          {t("range_wrong")}
        </p>
      )}
      {valid && usage.error !== null && <ErrorNotice error={usage.error} retry={usage.reload} />}
      {valid && !usage.value && usage.error === null && <Skeleton lines={6} label={t("usage_loading")} />}
      {valid && usage.value && <Shown report={usage.value.report} names={usage.value.names} />}
    </>
  );
}

/** What keys are called, as far as they can be read: usage knows only their ids. */
async function keyNames(stop: AbortSignal): Promise<Map<string, string>> {
  const names = new Map<string, string>();
  const none: Page<ApiKey> = { items: [], next: "" };
  let cursor = "";
  do {
    const page = await listKeys(cursor, stop).catch(() => none);
    for (const each of page.items) names.set(each.key_id, each.name);
    cursor = page.next;
  } while (cursor);
  return names;
}

function Shown({ report, names }: { report: UsageReport; names: ReadonlyMap<string, string> }) {
  const { total } = report;
  if (total.questions === 0 && total.input_tokens === 0) {
    return (
      <EmptyState icon="chart" title={t("usage_none_title")}>
        {t("usage_none_text")}
      </EmptyState>
    );
  }
  return (
    <>
      <dl class={css.figures}>
        <Figure name={t("questions")} value={number(total.questions)} />
        <Figure name={t("cost")} value={money(total.cost_usd)} />
        <Figure name={t("input_tokens")} value={number(total.input_tokens)} />
        <Figure name={t("output_tokens")} value={number(total.output_tokens)} />
      </dl>
      {total.unpriced_calls > 0 && <p class={css.soft}>{t("unpriced", total.unpriced_calls)}</p>}
      {report.by === "day" && <UsageChart report={report} />}
      <Panel>
        <Scroller class={css.scroll} label={t("usage")}>
          <table class={css.table}>
            <thead>
              <tr>
                <th scope="col">{t(`by_${report.by}`)}</th>
                <th scope="col" class={css.number}>
                  {t("questions")}
                </th>
                <th scope="col" class={css.number}>
                  {t("input_tokens")}
                </th>
                <th scope="col" class={css.number}>
                  {t("cached_tokens")}
                </th>
                <th scope="col" class={css.number}>
                  {t("output_tokens")}
                </th>
                <th scope="col" class={css.number}>
                  {t("cost")}
                </th>
              </tr>
            </thead>
            <tbody>
              {[...report.lines].sort(report.by === "day" ? newestFirst : dearestFirst).map((line) => (
                <Line key={line.key} line={line} name={nameOf(line.key, report.by, names)} />
              ))}
            </tbody>
            <tfoot>
              <Line line={total} name={t("total")} />
            </tfoot>
          </table>
        </Scroller>
      </Panel>
    </>
  );
}

function Figure({ name, value }: { name: string; value: string }) {
  return (
    <div class={css.figure}>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}

function Line({ line, name }: { line: UsageLine; name: string }) {
  return (
    <tr>
      <th scope="row" class={css.name}>
        {name}
      </th>
      <td class={css.number}>{number(line.questions)}</td>
      <td class={css.number}>{number(line.input_tokens)}</td>
      <td class={css.number}>{number(line.cached_tokens)}</td>
      <td class={css.number}>{number(line.output_tokens)}</td>
      <td class={css.number}>{money(line.cost_usd)}</td>
    </tr>
  );
}

function nameOf(key: string, by: Grouping, names: ReadonlyMap<string, string>): string {
  if (by === "day") return day(key);
  if (by === "model") return key;
  if (!key) return t("ingest");
  if (!key.startsWith(KEY_PREFIX)) return key;
  const id = key.slice(KEY_PREFIX.length);
  const name = names.get(id);
  return name ? t("key_user", name) : t("unknown_key", id);
}

const newestFirst = (one: UsageLine, other: UsageLine) => other.key.localeCompare(one.key);
const dearestFirst = (one: UsageLine, other: UsageLine) =>
  other.cost_usd - one.cost_usd || other.questions - one.questions || other.input_tokens - one.input_tokens;

/** Dollars; below a cent with as many digits as it takes. */
function money(usd: number): string {
  const digits = usd > 0 && usd < 0.01 ? 6 : 2;
  return number(usd, { style: "currency", currency: "USD", minimumFractionDigits: 2, maximumFractionDigits: digits });
}

function Download(props: { from: string; to: string; by: Grouping; disabled: boolean }) {
  const [busy, setBusy] = useState(false);
  const run = async () => {
    setBusy(true);
    try {
      saveFile(await usageCsv(props.from, props.to, props.by), `usage-${props.from}-${props.to}-${props.by}.csv`);
    } catch (error) {
      toast(adviceOn(asProblem(error)));
    }
    setBusy(false);
  };
  return (
    <Button icon="download" busy={busy} disabled={props.disabled} onClick={() => void run()}>
      {t("download")}
    </Button>
  );
}
