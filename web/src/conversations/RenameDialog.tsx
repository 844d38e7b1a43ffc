import { useEffect, useRef, useState } from "preact/hooks";
import { useAction } from "../api/loading.ts";
import type { ConversationHead } from "../api/types.ts";
import { t } from "../i18n/frame.ts";
import { Button } from "../ui/Button.tsx";
import { Dialog } from "../ui/Dialog.tsx";
import { ErrorNotice } from "../ui/ErrorNotice.tsx";
import { TextField } from "../ui/Field.tsx";
import { rename } from "./list.ts";

const MAX_TITLE = 120;

export function RenameDialog({ head, onClose }: { head: ConversationHead; onClose: () => void }) {
  const [title, setTitle] = useState(head.title);
  const { busy, error, run } = useAction();
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => input.current?.select(), []);
  const submit = (event: Event) => {
    event.preventDefault();
    void run(() => rename(head.conversation_id, title.trim()).then(onClose));
  };
  const buttons = (
    <>
      <Button kind="quiet" onClick={onClose}>
        {t("cancel")}
      </Button>
      <Button kind="primary" type="submit" form="rename" busy={busy} disabled={!title.trim()}>
        {t("save")}
      </Button>
    </>
  );
  return (
    <Dialog title={t("rename")} onClose={onClose} actions={buttons}>
      <form id="rename" onSubmit={submit}>
        <TextField
          label={t("title")}
          value={title}
          maxLength={MAX_TITLE}
          inputRef={input}
          onInput={(event) => setTitle(event.currentTarget.value)}
        />
      </form>
      {error !== null && <ErrorNotice error={error} />}
    </Dialog>
  );
}
