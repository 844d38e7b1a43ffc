import { useState } from "preact/hooks";
import { t } from "../i18n/frame.ts";
import { Button } from "../ui/Button.tsx";
import { TextField } from "../ui/Field.tsx";
import { Icon } from "../ui/Icon.tsx";
import { config } from "./config.ts";
import { Preferences } from "./Preferences.tsx";
import css from "./StartPage.module.css";
import { signIn, signInWithToken } from "./session.ts";
import { Wordmark } from "./Wordmark.tsx";

/** What one sees before signing in. */
export function StartPage({ denied }: { denied: boolean }) {
  return (
    <main class={css.start}>
      <div class={css.card}>
        <h1 class={css.name}>
          <Wordmark large />
        </h1>
        <p class={css.about}>{t("about")}</p>
        <ul class={css.points}>
          {(["about_quotes", "about_source", "about_honest"] as const).map((point) => (
            <li key={point}>
              <Icon name="check" size={16} />
              {t(point)}
            </li>
          ))}
        </ul>
        {denied && (
          <p class={css.denied} role="alert">
            {t("not_signed_in")}
          </p>
        )}
        {config().sign_in ? <SignInButton /> : <TokenForm />}
        {config().hint && <p class={css.hint}>{config().hint}</p>}
      </div>
      <Preferences />
    </main>
  );
}

function SignInButton() {
  const [busy, setBusy] = useState(false);
  const start = () => {
    setBusy(true);
    void signIn().finally(() => setBusy(false));
  };
  return (
    <Button kind="primary" class={css.button} busy={busy} onClick={start}>
      {t("sign_in")}
    </Button>
  );
}

/** Signing in where no provider is configured: with a token from elsewhere. */
export function TokenForm() {
  const [value, setValue] = useState("");
  const [wrong, setWrong] = useState(false);
  const submit = (event: Event) => {
    event.preventDefault();
    setWrong(!signInWithToken(value.trim()));
  };
  return (
    <form class={css.form} onSubmit={submit}>
      <TextField
        label={t("token")}
        hint={t("token_hint")}
        error={wrong ? t("token_wrong") : undefined}
        secret
        value={value}
        onInput={(event) => setValue(event.currentTarget.value)}
      />
      <Button kind="primary" type="submit" class={css.button}>
        {t("sign_in")}
      </Button>
    </form>
  );
}
