import { useState } from "preact/hooks";
import { useAction } from "../api/loading.ts";
import { session } from "../app/session.ts";
import { t } from "../i18n/chat.ts";
import { Button } from "../ui/Button.tsx";
import { Dialog } from "../ui/Dialog.tsx";
import { ErrorNotice } from "../ui/ErrorNotice.tsx";
import { TextArea, TextField } from "../ui/Field.tsx";
import type { Chat } from "./chats.ts";

/** Ask a person to answer: what they should know, and how to reach the asker. */
export function HandoffDialog({ chat, onClose }: { chat: Chat; onClose: () => void }) {
  const [reason, setReason] = useState("");
  const [contact, setContact] = useState(session.value?.email ?? "");
  const { busy, error, run } = useAction();
  const submit = () => void run(() => chat.handOff(reason.trim(), contact.trim()).then(onClose));
  return (
    <Dialog
      title={t("handoff_title")}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{t("cancel")}</Button>
          <Button kind="primary" busy={busy} onClick={submit}>
            {t("handoff_send")}
          </Button>
        </>
      }
    >
      <p>{t("handoff_text")}</p>
      <TextArea
        label={t("handoff_reason")}
        hint={t("handoff_reason_hint")}
        rows={3}
        maxLength={1000}
        value={reason}
        onInput={({ currentTarget }) => setReason(currentTarget.value)}
      />
      <TextField
        label={t("contact")}
        hint={t("contact_hint")}
        maxLength={200}
        value={contact}
        onInput={({ currentTarget }) => setContact(currentTarget.value)}
      />
      {error !== null && <ErrorNotice error={error} />}
    </Dialog>
  );
}
