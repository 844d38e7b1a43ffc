import { api, data } from "../api/client.ts";
import { useLoaded } from "../api/loading.ts";
import type { components } from "../api/schema";
import { t } from "../i18n/chat.ts";
import { dayAndTime, number } from "../i18n/format.ts";
import { Button } from "../ui/Button.tsx";
import { Dialog } from "../ui/Dialog.tsx";
import { ErrorNotice } from "../ui/ErrorNotice.tsx";
import { Facts } from "../ui/Facts.tsx";
import { Skeleton } from "../ui/Skeleton.tsx";
import { saveFile } from "../ui/saveFile.ts";
import { plain } from "./plain.ts";

type Receipt = components["schemas"]["AnswerReceiptOut"];

/** What an answer was made from: the gist in words, and its receipt as a file. */
export function ReceiptDialog({ message_id, onClose }: { message_id: string; onClose: () => void }) {
  const { value, error, reload } = useLoaded((signal) => read(message_id, signal), [message_id]);
  return (
    <Dialog
      title={t("receipt")}
      onClose={onClose}
      actions={
        value && (
          <Button icon="download" onClick={() => save(value)}>
            {t("receipt_save")}
          </Button>
        )
      }
    >
      {error !== null && <ErrorNotice error={error} retry={reload} />}
      {!value && error === null && <Skeleton lines={6} label={t("receipt_loading")} />}
      {value && <Facts facts={factsOf(value)} />}
      {value && value.left_out > 0 && <p>{t("receipt_left_out", value.left_out)}</p>}
    </Dialog>
  );
}

function read(message_id: string, signal: AbortSignal): Promise<Receipt> {
  return data(api().GET("/messages/{message_id}/receipt", { params: { path: { message_id } }, signal }));
}

function save(receipt: Receipt): void {
  const file = new Blob([JSON.stringify(receipt, null, 2)], { type: "application/json" });
  saveFile(file, `receipt-${receipt.message_id}.json`);
}

function factsOf({ searched, decision, candidates, hits, claims, prompt, ...rest }: Receipt): [string, string][] {
  const read = candidates.filter(({ source }) => source > 0).length;
  const shown = claims.filter((claim) => claim.shown).length;
  const cost = { style: "currency", currency: "USD", maximumFractionDigits: 6 } as const;
  return [
    [t("receipt_asked_at"), dayAndTime(rest.asked_at)],
    [t("receipt_searched"), searched ? plain(searched.question) : ""],
    [t("receipt_passages"), hits > 0 ? t("receipt_read", read, hits) : ""],
    [t("receipt_relevance"), decision ? `${share(decision.relevance)} / ${share(decision.threshold)}` : ""],
    [t("receipt_claims"), claims.length > 0 ? t("receipt_shown", shown, claims.length) : ""],
    [t("receipt_model"), prompt?.model ?? ""],
    [t("receipt_cost"), rest.cost_usd === null || !rest.spent.length ? "" : number(rest.cost_usd, cost)],
    [t("receipt_release"), [rest.version, rest.release].filter(Boolean).join(", ")],
  ];
}

function share(value: number): string {
  return number(value, { style: "percent" });
}
