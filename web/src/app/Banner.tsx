import { t } from "../i18n/frame.ts";
import { Button } from "../ui/Button.tsx";
import { Icon } from "../ui/Icon.tsx";
import { Spinner } from "../ui/Spinner.tsx";
import css from "./Banner.module.css";
import { reachable, slow, tryAgain } from "./connection.ts";

/** A line above the view while the API cannot be reached, or lets one wait. */
export function Banner() {
  return (
    <div role="status" class={css.place}>
      {!reachable.value ? (
        <p class={css.banner}>
          <Icon name="alert" size={16} />
          <span>
            {t("unreachable")} {t("again_soon")}
          </span>
          <Button size="s" kind="quiet" onClick={() => void tryAgain()}>
            {t("try_again")}
          </Button>
        </p>
      ) : slow.value ? (
        <p class={css.banner}>
          <Spinner size={16} />
          <span>{t("slow")}</span>
        </p>
      ) : null}
    </div>
  );
}
