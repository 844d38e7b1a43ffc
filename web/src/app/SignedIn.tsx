import { t } from "../i18n/frame.ts";
import { EmptyState } from "../ui/EmptyState.tsx";

/**
 * What the window of a new sign-in says, where the browser does not let it close itself. An old address of a sign-in (a
 * bookmark, a tab that was restored) leads here, too, so there is a way on.
 */
export function SignedIn() {
  return (
    <EmptyState icon="check" title={t("signed_in")} action={<a href={location.pathname}>{t("signed_in_here")}</a>}>
      {t("signed_in_text")}
    </EmptyState>
  );
}
