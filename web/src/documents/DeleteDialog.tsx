import { useId, useState } from "preact/hooks";
import type { Document } from "../api/types.ts";
import { t } from "../i18n/documents.ts";
import { Button } from "../ui/Button.tsx";
import { Dialog } from "../ui/Dialog.tsx";
import css from "./DeleteDialog.module.css";

const NAMED = 5;

/** Asks before documents are deleted, says what goes with them, and whether every trace is to go. */
export function DeleteDialog(props: {
  documents: readonly Document[];
  onDelete: (verify: boolean) => void;
  onClose: () => void;
}) {
  const { documents } = props;
  const [verify, setVerify] = useState(false);
  const id = useId();
  return (
    <Dialog
      title={t("delete_title", documents.length)}
      onClose={props.onClose}
      actions={
        <>
          <Button onClick={props.onClose}>{t("cancel")}</Button>
          <Button kind="danger" icon="trash" onClick={() => props.onDelete(verify)}>
            {t("delete")}
          </Button>
        </>
      }
    >
      <ul class={css.titles}>
        {documents.slice(0, NAMED).map((each) => (
          <li key={each.document_id}>{each.title}</li>
        ))}
        {documents.length > NAMED && <li>{t("delete_more", documents.length - NAMED)}</li>}
      </ul>
      <div>
        <p>{t("delete_what")}</p>
        <ul class={css.goes}>
          <li>{t("delete_file")}</li>
          <li>{t("delete_passages")}</li>
        </ul>
      </div>
      {!verify && <p>{t("delete_answers")}</p>}
      <div class={css.verify}>
        <input
          id={id}
          type="checkbox"
          checked={verify}
          aria-describedby={`${id}-hint`}
          onChange={(event) => setVerify(event.currentTarget.checked)}
        />
        <div>
          <label for={id}>{t("delete_verify")}</label>
          <p id={`${id}-hint`} class={css.soft}>
            {t("delete_verify_hint")}
          </p>
        </div>
      </div>
      <p class={css.soft}>{t("delete_undo")}</p>
    </Dialog>
  );
}
