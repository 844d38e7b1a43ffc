import { useState } from "preact/hooks";
import { t } from "../i18n/admin.ts";
import { Button } from "../ui/Button.tsx";
import { Dialog } from "../ui/Dialog.tsx";
import { Field } from "../ui/Field.tsx";
import css from "./admin.module.css";
import type { NewKey } from "./calls.ts";

/** Shows a new key, this once. Neither Esc nor a click outside takes it away: only that it was copied. */
export function SecretDialog({ made, onClose }: { made: NewKey; onClose: () => void }) {
  const [told, setTold] = useState<"copied" | "copy_failed" | null>(null);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(made.key);
      setTold("copied");
    } catch {
      setTold("copy_failed");
    }
  };
  return (
    <Dialog
      title={t("created_title")}
      actions={
        <Button kind={told === "copied" ? "primary" : "secondary"} onClick={onClose}>
          {t("done")}
        </Button>
      }
    >
      <p>{t("created_text")}</p>
      <div class={css.secret}>
        <Field label={t("the_key")}>
          {(attributes) => (
            <input
              {...attributes}
              readOnly
              value={made.key}
              spellcheck={false}
              onFocus={(event) => event.currentTarget.select()}
            />
          )}
        </Field>
        <Button
          kind={told === "copied" ? "secondary" : "primary"}
          icon={told === "copied" ? "check" : "copy"}
          onClick={() => void copy()}
        >
          {t(told === "copied" ? "copied" : "copy")}
        </Button>
      </div>
      <p role="status" class={css.soft}>
        {told && t(told)}
      </p>
    </Dialog>
  );
}
