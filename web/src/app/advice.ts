import type { ApiProblem } from "../api/problem.ts";
import { dayAndTime } from "../i18n/format.ts";
import { t } from "../i18n/frame.ts";

/** What happened and what to do about it, in a sentence or two. */
export function adviceOn(problem: ApiProblem): string {
  switch (problem.code) {
    case "unreachable":
      return t("unreachable");
    case "part_missing":
      return t("part_missing");
    case "not_authenticated":
      return t("not_authenticated");
    case "not_allowed":
      return t("not_allowed");
    case "access_lost":
      return t("access_lost");
    case "not_found":
      return t("not_found");
    case "erased":
      return t("erased");
    case "conflict":
      return t("conflict");
    case "changed_meanwhile":
      return t("changed_meanwhile");
    case "busy":
      return t("busy");
    case "limit_reached":
      return problem.body.resets_at ? t("limit_until", dayAndTime(problem.body.resets_at)) : t("limit_reached");
    case "timeout":
      return t("timeout");
    case "unavailable":
      return t("unavailable");
    case "quota_exhausted":
    case "upstream_refused":
    case "configuration_error":
      return t("operator_needed");
    default:
      return problem.status >= 400 && problem.status < 500 && problem.detail ? problem.detail : t("failed");
  }
}
