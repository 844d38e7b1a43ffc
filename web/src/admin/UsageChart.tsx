import { t } from "../i18n/admin.ts";
import { day } from "../i18n/format.ts";
import { Panel } from "../ui/Panel.tsx";
import type { UsageReport } from "./calls.ts";
import { daysBetween } from "./days.ts";
import css from "./UsageChart.module.css";

const HEIGHT = 100;
const STEP = 12;
const BAR = 8;

/** Questions a day, as bars. The table below says the same to whoever does not see them. */
export function UsageChart({ report }: { report: UsageReport }) {
  const asked = new Map(report.lines.map((line) => [line.key, line.questions]));
  const days = daysBetween(report.from, report.to);
  const most = Math.max(1, ...asked.values());
  return (
    <Panel padded>
      <figure class={css.figure}>
        <figcaption class={css.caption}>{t("chart")}</figcaption>
        <svg
          class={css.chart}
          viewBox={`0 0 ${days.length * STEP} ${HEIGHT}`}
          preserveAspectRatio="none"
          aria-hidden="true"
        >
          {days.map((each, at) => {
            const questions = asked.get(each) ?? 0;
            const height = questions === 0 ? 1 : Math.max(3, (HEIGHT * questions) / most);
            return (
              <g key={each}>
                <title>{t("questions_of", day(each), questions)}</title>
                <rect class={css.hit} x={at * STEP} y={0} width={STEP} height={HEIGHT} />
                <rect
                  class={questions === 0 ? css.none : css.bar}
                  x={at * STEP + (STEP - BAR) / 2}
                  y={HEIGHT - height}
                  width={BAR}
                  height={height}
                />
              </g>
            );
          })}
        </svg>
        <div class={css.axis}>
          <span>{day(report.from)}</span>
          <span>{day(report.to)}</span>
        </div>
      </figure>
    </Panel>
  );
}
