import type { Listing } from "../api/listing.ts";
import { t } from "../i18n/frame.ts";
import { Button } from "./Button.tsx";
import css from "./More.module.css";

/** The button below a listing that has a further page. */
export function More<T>({ listing }: { listing: Listing<T> }) {
  if (!listing.next.value) return null;
  return (
    <div class={css.more}>
      <Button busy={listing.loading.value} onClick={() => void listing.more()}>
        {t("more")}
      </Button>
    </div>
  );
}
