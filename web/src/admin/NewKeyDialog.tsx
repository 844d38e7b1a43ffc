import { useState } from "preact/hooks";
import { useAction } from "../api/loading.ts";
import { t } from "../i18n/admin.ts";
import { Button } from "../ui/Button.tsx";
import { DateField } from "../ui/DateField.tsx";
import { Dialog } from "../ui/Dialog.tsx";
import { ErrorNotice } from "../ui/ErrorNotice.tsx";
import { TextField } from "../ui/Field.tsx";
import { SelectField } from "../ui/SelectField.tsx";
import css from "./admin.module.css";
import { createKey, type KeyRole, type NewKey } from "./calls.ts";
import { endOf } from "./days.ts";

const ROLES: readonly KeyRole[] = ["reader", "editor", "agent", "admin"];

/** Asks what a new key is for, and creates it. */
export function NewKeyDialog({ onCreated, onClose }: { onCreated: (key: NewKey) => void; onClose: () => void }) {
  const [name, setName] = useState("");
  const [role, setRole] = useState<KeyRole>("reader");
  const [until, setUntil] = useState("");
  const [tried, setTried] = useState(false);
  const { busy, error, run } = useAction();
  const expires = until ? endOf(until) : null;
  const wrong = { name: !name.trim(), until: expires !== null && expires.getTime() <= Date.now() };
  const create = async () => {
    setTried(true);
    if (wrong.name || wrong.until) return;
    await run(async () => onCreated(await createKey(name.trim(), role, expires?.toISOString() ?? null)));
  };
  return (
    <Dialog
      title={t("new_key")}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{t("cancel")}</Button>
          <Button kind="primary" type="submit" form="key" busy={busy}>
            {t("create")}
          </Button>
        </>
      }
    >
      <form
        id="key"
        class={css.form}
        onSubmit={(event) => {
          event.preventDefault();
          void create();
        }}
      >
        <TextField
          label={t("key_name")}
          hint={t("key_name_hint")}
          error={tried && wrong.name ? t("key_name_missing") : undefined}
          maxLength={100}
          value={name}
          onInput={(event) => setName(event.currentTarget.value)}
        />
        <SelectField
          label={t("key_role")}
          value={role}
          onChange={(value) => setRole(ROLES.find((each) => each === value) ?? "reader")}
          options={ROLES.map((value) => ({ value, label: t(`role_${value}`) }))}
        />
        <DateField
          label={t("key_expires")}
          hint={t("key_expires_hint")}
          error={wrong.until ? t("key_expires_past") : undefined}
          value={until}
          onInput={setUntil}
        />
      </form>
      {error !== null && <ErrorNotice error={error} />}
    </Dialog>
  );
}
