import type { Citation } from "../api/types.ts";
import { t } from "./frame.ts";
import { locale } from "./locale.ts";

/** "23 Nov 2026" */
export function day(moment: string | Date): string {
  return new Intl.DateTimeFormat(region(), { day: "numeric", month: "short", year: "numeric" }).format(
    new Date(moment),
  );
}

/** "23 Nov 2026, 14:05" */
export function dayAndTime(moment: string | Date): string {
  return new Intl.DateTimeFormat(region(), { dateStyle: "medium", timeStyle: "short" }).format(new Date(moment));
}

/** "just now", "5 minutes ago", "yesterday", and beyond a week the day itself. */
export function ago(moment: string | Date, now: Date = new Date()): string {
  const seconds = (new Date(moment).getTime() - now.getTime()) / 1000;
  const words = new Intl.RelativeTimeFormat(region(), { numeric: "auto" });
  const past = Math.abs(seconds);
  if (past < 60) return words.format(0, "second");
  if (past < 3600) return words.format(Math.round(seconds / 60), "minute");
  if (past < 86_400) return words.format(Math.round(seconds / 3600), "hour");
  if (past < 7 * 86_400) return words.format(Math.round(seconds / 86_400), "day");
  return day(moment);
}

export function number(value: number, options?: Intl.NumberFormatOptions): string {
  return new Intl.NumberFormat(region(), options).format(value);
}

/** "1.4 MB" */
export function bytes(size: number): string {
  const step = size < 1_000_000 ? (["kilobyte", 1000] as const) : (["megabyte", 1_000_000] as const);
  const digits = size / step[1] < 10 ? 1 : 0;
  return number(size / step[1], { style: "unit", unit: step[0], unitDisplay: "short", maximumFractionDigits: digits });
}

type Placed = Pick<Citation, "page_start" | "page_end" | "page_label"> & Partial<Pick<Citation, "source_type">>;

/** "page 5 (printed 3)": as the viewer counts, and the printed number where it differs; empty for what has no pages. */
export function pagesOf({ source_type = "pdf", page_start, page_end, page_label }: Placed): string {
  if (source_type !== "pdf" || page_start < 1) return "";
  const pages = page_end > page_start ? t("pages", page_start, page_end) : t("page", page_start);
  return page_label && page_label !== String(page_start) ? t("printed", pages, page_label) : pages;
}

function region(): string {
  return locale.value === "lt" ? "lt-LT" : "en-GB";
}
