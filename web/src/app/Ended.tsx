import { useState } from "preact/hooks";
import { t } from "../i18n/frame.ts";
import { Button } from "../ui/Button.tsx";
import { Dialog } from "../ui/Dialog.tsx";
import { ErrorNotice } from "../ui/ErrorNotice.tsx";
import { config } from "./config.ts";
import { TokenForm } from "./StartPage.tsx";
import { ended, signInAgain, signOut } from "./session.ts";

/** Over everything, when the session has ended: sign in again, and what was going on goes on. */
export function Ended() {
  const [error, setError] = useState<unknown>(null);
  if (!ended.value) return null;
  const again = () => {
    setError(null);
    signInAgain().catch(setError);
  };
  const buttons = (
    <>
      <Button kind="quiet" onClick={() => void signOut()}>
        {t("sign_out")}
      </Button>
      {config().sign_in && (
        <Button kind="primary" onClick={again}>
          {t("sign_in")}
        </Button>
      )}
    </>
  );
  return (
    <Dialog title={t("ended_title")} actions={buttons}>
      <p>{t("ended")}</p>
      {error !== null && <ErrorNotice error={error} />}
      {!config().sign_in && <TokenForm />}
    </Dialog>
  );
}
