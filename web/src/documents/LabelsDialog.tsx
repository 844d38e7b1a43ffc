import { useState } from "preact/hooks";
import type { Document } from "../api/types.ts";
import { t } from "../i18n/documents.ts";
import { Button } from "../ui/Button.tsx";
import { Dialog } from "../ui/Dialog.tsx";
import { ErrorNotice } from "../ui/ErrorNotice.tsx";
import { TextField } from "../ui/Field.tsx";
import { toast } from "../ui/toast.ts";
import { labelDocument } from "./calls.ts";
import css from "./LabelsDialog.module.css";
import { additionsOf, CARD, changesOf, EMPTY_FORM, formOf, foundOf, type LabelForm, NAMES, tagsOf } from "./labels.ts";

/** Changes the labels of a document, or adds labels to several. */
export function LabelsDialog(props: {
  documents: readonly Document[];
  onSaved: (document: Document) => void;
  onClose: () => void;
}) {
  const { documents } = props;
  const [only] = documents.length === 1 ? documents : [];
  const [form, setForm] = useState<LabelForm>(() => (only ? formOf(only) : EMPTY_FORM));
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const tagsWrong = tagsOf(form.tags) === null;
  const save = async () => {
    setBusy(true);
    setError(null);
    const ends = await Promise.allSettled(
      documents.map(async (each) => {
        const labels = only ? changesOf(each, form) : additionsOf(each, form);
        if (Object.keys(labels).length) props.onSaved(await labelDocument(each.document_id, labels));
      }),
    );
    setBusy(false);
    const lost = ends.filter((end) => end.status === "rejected");
    if (lost[0]) return setError(lost[0].reason);
    toast(t("saved"));
    props.onClose();
  };
  const set = (name: keyof LabelForm) => (event: { currentTarget: HTMLInputElement }) =>
    setForm({ ...form, [name]: event.currentTarget.value });
  return (
    <Dialog
      title={only ? t("labels") : t("labels_of", documents.length)}
      onClose={props.onClose}
      actions={
        <>
          <Button onClick={props.onClose}>{t("cancel")}</Button>
          <Button kind="primary" busy={busy} disabled={tagsWrong} type="submit" form="labels">
            {t("save")}
          </Button>
        </>
      }
    >
      <p class={css.hint}>{only ? t("labels_hint") : t("labels_bulk_hint")}</p>
      <form
        id="labels"
        class={css.form}
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        <div class={css.tags}>
          <TextField
            label={t("tags")}
            hint={t("tags_hint")}
            error={tagsWrong ? t("tags_too_many") : undefined}
            value={form.tags}
            onInput={set("tags")}
          />
        </div>
        {NAMES.map((name) => (
          <TextField key={name} label={t(name)} value={form[name]} maxLength={200} onInput={set(name)} />
        ))}
        <p class={css.card}>{t("card_hint")}</p>
        {CARD.map((name) => (
          <TextField
            key={name}
            label={t(`card_${name}`)}
            hint={only && foundOf(only, name) ? t("card_found", foundOf(only, name)) : undefined}
            value={form[name]}
            maxLength={200}
            onInput={set(name)}
          />
        ))}
      </form>
      {error !== null && <ErrorNotice error={error} title={documents.length > 1 ? t("not_all_saved") : undefined} />}
    </Dialog>
  );
}
