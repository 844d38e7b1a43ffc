import { useState } from "preact/hooks";
import { t } from "../i18n/admin.ts";
import { Page } from "../ui/Page.tsx";
import { Tabs } from "../ui/Tabs.tsx";
import { HealthPart } from "./HealthPart.tsx";
import { KeysPart } from "./KeysPart.tsx";
import { UsagePart } from "./UsagePart.tsx";

const PARTS = ["keys", "usage", "health"] as const;
type Part = (typeof PARTS)[number];

/** Keys, usage and health. */
export default function AdminView() {
  const [part, setPart] = useState<Part>("keys");
  return (
    <Page title={t("title")} about={t(`${part}_lead`)}>
      <Tabs
        label={t("title")}
        value={part}
        options={PARTS.map((value) => ({ value, label: t(value) }))}
        onChange={setPart}
      />
      {part === "keys" && <KeysPart />}
      {part === "usage" && <UsagePart />}
      {part === "health" && <HealthPart />}
    </Page>
  );
}
