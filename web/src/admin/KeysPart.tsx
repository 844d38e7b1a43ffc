import { useEffect, useMemo, useState } from "preact/hooks";
import { Listing } from "../api/listing.ts";
import { asProblem } from "../api/problem.ts";
import type { ApiKey } from "../api/types.ts";
import { adviceOn } from "../app/advice.ts";
import { t } from "../i18n/admin.ts";
import { ago, day, dayAndTime } from "../i18n/format.ts";
import { Badge } from "../ui/Badge.tsx";
import { Button } from "../ui/Button.tsx";
import { Dialog } from "../ui/Dialog.tsx";
import { EmptyState } from "../ui/EmptyState.tsx";
import { ErrorNotice } from "../ui/ErrorNotice.tsx";
import { More } from "../ui/More.tsx";
import { Panel } from "../ui/Panel.tsx";
import { Skeleton } from "../ui/Skeleton.tsx";
import { toast } from "../ui/toast.ts";
import css from "./admin.module.css";
import { listKeys, type NewKey, revokeKey } from "./calls.ts";
import { NewKeyDialog } from "./NewKeyDialog.tsx";
import { SecretDialog } from "./SecretDialog.tsx";

type Open = { kind: "new" } | { kind: "secret"; key: NewKey } | { kind: "revoke"; key: ApiKey };

/** The keys of machine clients. */
export function KeysPart() {
  const listing = useMemo(() => new Listing<ApiKey>(listKeys), []);
  const [open, setOpen] = useState<Open | null>(null);
  useEffect(() => {
    void listing.reload();
    return () => listing.stop();
  }, [listing]);
  const close = () => setOpen(null);
  const revoke = async (key: ApiKey) => {
    close();
    try {
      await revokeKey(key.key_id);
      toast(t("revoked", key.name));
    } catch (error) {
      const problem = asProblem(error);
      if (problem.status !== 404) return toast(adviceOn(problem));
    }
    listing.change((all) => all.filter((each) => each.key_id !== key.key_id));
  };
  return (
    <>
      <Listed listing={listing} open={setOpen} />
      {open?.kind === "new" && (
        <NewKeyDialog
          onClose={close}
          onCreated={(key) => {
            listing.change((all) => [withoutSecret(key), ...all]);
            setOpen({ kind: "secret", key });
          }}
        />
      )}
      {open?.kind === "secret" && <SecretDialog made={open.key} onClose={close} />}
      {open?.kind === "revoke" && (
        <Dialog
          title={t("revoke_title", open.key.name)}
          onClose={close}
          actions={
            <>
              <Button onClick={close}>{t("cancel")}</Button>
              <Button kind="danger" onClick={() => void revoke(open.key)}>
                {t("revoke")}
              </Button>
            </>
          }
        >
          <p>{t("revoke_text")}</p>
        </Dialog>
      )}
    </>
  );
}

function Listed({ listing, open }: { listing: Listing<ApiKey>; open: (what: Open) => void }) {
  const items = listing.items.value;
  const create = (
    <Button kind="primary" icon="add" onClick={() => open({ kind: "new" })}>
      {t("new_key")}
    </Button>
  );
  const notice = listing.error.value ? (
    <ErrorNotice error={listing.error.value} retry={() => void listing.reload()} />
  ) : null;
  if (items === null) return notice ?? <Skeleton lines={5} label={t("keys_loading")} />;
  if (items.length === 0 && !listing.next.value) {
    return (
      notice ?? (
        <EmptyState icon="key" title={t("keys_none_title")} action={create}>
          {t("keys_none_text")}
        </EmptyState>
      )
    );
  }
  return (
    <>
      {notice}
      <div class={css.end}>{create}</div>
      <Panel>
        <div class={css.scroll}>
          <table class={`${css.table} ${css.keys}`}>
            <thead>
              <tr>
                <th scope="col">{t("name")}</th>
                <th scope="col">{t("role")}</th>
                <th scope="col">{t("created")}</th>
                <th scope="col">{t("last_used")}</th>
                <th scope="col">{t("expires")}</th>
                <th scope="col">
                  <span class="visually-hidden">{t("revoke")}</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {items.map((each) => (
                <Row key={each.key_id} of={each} revoke={() => open({ kind: "revoke", key: each })} />
              ))}
            </tbody>
          </table>
        </div>
      </Panel>
      <More listing={listing} />
    </>
  );
}

function Row({ of: key, revoke }: { of: ApiKey; revoke: () => void }) {
  const expired = key.expires_at !== "" && new Date(key.expires_at).getTime() <= Date.now();
  return (
    <tr>
      <th scope="row" class={css.name}>
        {key.name}
      </th>
      <td data-name={t("role")}>{t(`short_${key.role}`)}</td>
      <td data-name={t("created")} title={dayAndTime(key.created_at)}>
        {day(key.created_at)}
      </td>
      <td data-name={t("last_used")} title={key.last_used_at ? dayAndTime(key.last_used_at) : undefined}>
        {key.last_used_at ? ago(key.last_used_at) : t("never")}
      </td>
      <td data-name={t("expires")}>
        {expired ? <Badge tone="bad">{t("expired")}</Badge> : key.expires_at ? day(key.expires_at) : t("no_end")}
      </td>
      <td class={css.action}>
        <Button size="s" kind="quiet" aria-label={t("revoke_one", key.name)} onClick={revoke}>
          {t("revoke")}
        </Button>
      </td>
    </tr>
  );
}

function withoutSecret({ key: _, ...rest }: NewKey): ApiKey {
  return rest;
}
