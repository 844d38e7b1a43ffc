import { useState } from "preact/hooks";
import { asProblem } from "../api/problem.ts";
import type { Faq } from "../api/types.ts";
import { t } from "../i18n/people.ts";
import { Button } from "../ui/Button.tsx";
import { Dialog } from "../ui/Dialog.tsx";
import { ErrorNotice } from "../ui/ErrorNotice.tsx";
import { TextArea, TextField } from "../ui/Field.tsx";
import { Scroller } from "../ui/Scroller.tsx";
import { toast } from "../ui/toast.ts";
import { createFaq, readFaq, replaceFaq } from "./calls.ts";
import css from "./FaqDialog.module.css";
import { bodyOf, EMPTY_FAQ, errorsOf, type FaqForm, formOfFaq, tagsOf } from "./faqForm.ts";
import shared from "./people.module.css";

export interface FaqDialogProps {
  /** The one that is changed; null for a new one. */
  faq: Faq | null;
  /** What a new one begins with. */
  question?: string;
  /** Unanswered questions that a new one settles. */
  answers?: readonly string[];
  onSaved: (faq: Faq) => void;
  onClose: () => void;
}

/** What somebody else has made of it meanwhile; `theirs` is null if it was deleted. */
type Conflict = { theirs: Faq | null };

/** Writes an FAQ. If somebody else was faster, both versions are shown, and nothing typed is lost. */
export function FaqDialog({ faq, question = "", answers = [], onSaved, onClose }: FaqDialogProps) {
  const [form, setForm] = useState<FaqForm>(() => (faq ? formOfFaq(faq) : { ...EMPTY_FAQ, question }));
  const [tried, setTried] = useState(false);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const [conflict, setConflict] = useState<Conflict | null>(null);
  const [etag, setEtag] = useState(faq?.etag ?? "");
  const [isNew, setIsNew] = useState(faq === null);
  const errors = tried ? errorsOf(form) : {};

  const store = async (over: { etag: string; isNew: boolean }) => {
    const body = bodyOf(form);
    if (over.isNew || !faq) {
      const made = await createFaq(body, answers);
      toast(made.answered > 0 ? t("faq_answers", made.answered) : t("faq_created"));
      return made;
    }
    const replaced = await replaceFaq(faq.faq_id, body, over.etag);
    toast(t("faq_saved"));
    return replaced;
  };
  const save = async (over = { etag, isNew }) => {
    setTried(true);
    if (Object.keys(errorsOf(form)).length) return;
    setBusy(true);
    setError(null);
    try {
      onSaved(await store(over));
      onClose();
    } catch (caught) {
      const { status } = asProblem(caught);
      if (faq && (status === 412 || status === 404)) await compare(faq.faq_id);
      else setError(caught);
      setBusy(false);
    }
  };
  const compare = async (faq_id: string) => {
    try {
      setConflict({ theirs: await readFaq(faq_id) });
    } catch (caught) {
      if (asProblem(caught).status === 404) setConflict({ theirs: null });
      else setError(caught);
    }
  };
  const settle = (over: { etag: string; isNew: boolean }) => {
    setConflict(null);
    setEtag(over.etag);
    setIsNew(over.isNew);
    void save(over);
  };
  const takeTheirs = (theirs: Faq) => {
    setForm(formOfFaq(theirs));
    setEtag(theirs.etag);
    setConflict(null);
  };
  const set = (name: keyof FaqForm) => (event: { currentTarget: { value: string } }) =>
    setForm({ ...form, [name]: event.currentTarget.value });

  if (conflict) {
    return (
      <ConflictDialog
        mine={form}
        theirs={conflict.theirs}
        onBack={() => setConflict(null)}
        onKeepMine={(theirs) => settle({ etag: theirs.etag, isNew: false })}
        onTakeTheirs={takeTheirs}
        onNew={() => settle({ etag: "", isNew: true })}
      />
    );
  }
  return (
    <Dialog
      wide
      title={t(faq ? "edit_faq" : "new_faq")}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{t("cancel")}</Button>
          <Button kind="primary" type="submit" form="faq" busy={busy}>
            {t("save")}
          </Button>
        </>
      }
    >
      <form
        id="faq"
        class={css.form}
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        <div class={css.whole}>
          <TextArea
            label={t("question")}
            rows={2}
            maxLength={1_000}
            error={errors.question && t("question_missing")}
            value={form.question}
            onInput={set("question")}
          />
        </div>
        <div class={css.whole}>
          <TextArea
            label={t("answer")}
            rows={7}
            maxLength={8_000}
            error={errors.answer && t("answer_missing")}
            value={form.answer}
            onInput={set("answer")}
          />
        </div>
        <TextField
          label={t("language")}
          hint={t("language_hint")}
          error={errors.language && t("language_wrong")}
          value={form.language}
          maxLength={35}
          onInput={set("language")}
        />
        <TextField label={t("department")} value={form.department_id} maxLength={200} onInput={set("department_id")} />
        <div class={css.whole}>
          <TextArea
            label={t("tags")}
            hint={t("tags_hint")}
            rows={2}
            error={errors.tags && t("tags_wrong", tagsOf(form.tags).wrong)}
            value={form.tags}
            onInput={set("tags")}
          />
        </div>
      </form>
      {error !== null && <ErrorNotice error={error} />}
    </Dialog>
  );
}

function ConflictDialog(props: {
  mine: FaqForm;
  theirs: Faq | null;
  onBack: () => void;
  onKeepMine: (theirs: Faq) => void;
  onTakeTheirs: (theirs: Faq) => void;
  onNew: () => void;
}) {
  const { mine, theirs } = props;
  return (
    <Dialog
      wide
      title={t("conflict_title")}
      onClose={props.onBack}
      actions={
        theirs ? (
          <>
            <Button onClick={() => props.onTakeTheirs(theirs)}>{t("conflict_take_theirs")}</Button>
            <Button kind="primary" onClick={() => props.onKeepMine(theirs)}>
              {t("conflict_keep_mine")}
            </Button>
          </>
        ) : (
          <>
            <Button onClick={props.onBack}>{t("cancel")}</Button>
            <Button kind="primary" onClick={props.onNew}>
              {t("conflict_as_new")}
            </Button>
          </>
        )
      }
    >
      <p>{t(theirs ? "conflict_text" : "conflict_deleted")}</p>
      <div class={css.versions}>
        <Version name={t("conflict_mine")} form={mine} />
        {theirs && <Version name={t("conflict_theirs")} form={formOfFaq(theirs)} />}
      </div>
    </Dialog>
  );
}

function Version({ name, form }: { name: string; form: FaqForm }) {
  const rest = [form.language, form.department_id, form.tags].filter(Boolean).join(" · ");
  return (
    <Scroller class={css.version} label={name}>
      <h3 class={css.name}>{name}</h3>
      <p class={css.question}>{form.question}</p>
      <p class={shared.said}>{form.answer}</p>
      {rest && <p class={shared.soft}>{rest}</p>}
    </Scroller>
  );
}
