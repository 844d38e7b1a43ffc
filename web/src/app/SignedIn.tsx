import { t } from "../i18n/frame.ts";
import { EmptyState } from "../ui/EmptyState.tsx";

/** What the window of a new sign-in says, where the browser does not let it close itself. */
export function SignedIn() {
  return (
    <EmptyState icon="check" title={t("signed_in")}>
      {t("signed_in_text")}
    </EmptyState>
  );
}
