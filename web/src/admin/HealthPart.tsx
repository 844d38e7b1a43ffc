import { useMemo } from "preact/hooks";
import { useLoaded } from "../api/loading.ts";
import { t } from "../i18n/admin.ts";
import { ago, dayAndTime } from "../i18n/format.ts";
import { Badge } from "../ui/Badge.tsx";
import { Button } from "../ui/Button.tsx";
import { ErrorNotice } from "../ui/ErrorNotice.tsx";
import { Icon } from "../ui/Icon.tsx";
import { Panel } from "../ui/Panel.tsx";
import { Skeleton } from "../ui/Skeleton.tsx";
import css from "./admin.module.css";
import { type Health, type Provider, readHealth } from "./calls.ts";

const KINDS = ["busy", "timeout", "quota_exhausted", "upstream_refused", "unavailable"] as const;

/** How the services that answers depend on are. */
export function HealthPart() {
  const health = useLoaded(readHealth, []);
  if (health.error !== null) return <ErrorNotice error={health.error} retry={health.reload} />;
  if (!health.value) return <Skeleton lines={5} label={t("health_loading")} />;
  return <Shown health={health.value} busy={health.loading} again={health.reload} />;
}

function Shown({ health, busy, again }: { health: Health; busy: boolean; again: () => void }) {
  const well = health.status === "ok";
  const asked = useMemo(() => (health ? new Date() : null), [health]);
  return (
    <>
      <Panel padded>
        <div class={css.state} role="status">
          <span class={well ? css.well : css.unwell}>
            <Icon name={well ? "check" : "alert"} size={22} />
          </span>
          <div class={css.words}>
            <h2 class={css.heading}>{t(well ? "health_ok" : "health_degraded")}</h2>
            {!well && <p>{t("health_degraded_text")}</p>}
            <p class={css.soft}>
              {asked && t("checked", ago(asked))} · {t("version")} {health.version}
            </p>
          </div>
          <Button icon="retry" busy={busy} onClick={again}>
            {t("check_again")}
          </Button>
        </div>
      </Panel>
      {health.warnings.length > 0 && (
        <Panel as="section" label={t("warnings")} padded>
          <h2 class={css.heading}>{t("warnings")}</h2>
          <ul class={css.warnings}>
            {health.warnings.map((each) => (
              <li key={each}>{each}</li>
            ))}
          </ul>
        </Panel>
      )}
      {health.providers.length === 0 ? (
        <p class={css.soft}>{t("no_providers")}</p>
      ) : (
        <Panel as="ul" label={t("health")}>
          {health.providers.map((each) => (
            <Line key={each.dependency} provider={each} />
          ))}
        </Panel>
      )}
    </>
  );
}

function Line({ provider }: { provider: Provider }) {
  const well = provider.status === "ok";
  return (
    <li class={css.provider}>
      <div class={css.words}>
        <p class={css.name}>{t(`provider_${provider.dependency}`)}</p>
        {!well && (
          <>
            <p>{t(`kind_${KINDS.find((each) => each === provider.kind) ?? "other"}`)}</p>
            <p class={css.soft}>
              {t("failures", provider.failures)}
              {provider.message && ` · ${provider.message}`}
            </p>
          </>
        )}
      </div>
      <div class={css.side}>
        <Badge tone={well ? "good" : "bad"}>{t(well ? "provider_ok" : "provider_degraded")}</Badge>
        {provider.since && (
          <time class={css.soft} dateTime={provider.since} title={dayAndTime(provider.since)}>
            {t("since", ago(provider.since))}
          </time>
        )}
      </div>
    </li>
  );
}
