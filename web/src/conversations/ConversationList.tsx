import { useEffect, useState } from "preact/hooks";
import { asProblem } from "../api/problem.ts";
import type { ConversationHead } from "../api/types.ts";
import { adviceOn } from "../app/advice.ts";
import { href, route } from "../app/router.ts";
import { t } from "../i18n/frame.ts";
import { Button } from "../ui/Button.tsx";
import { classes } from "../ui/classes.ts";
import { ErrorNotice } from "../ui/ErrorNotice.tsx";
import { Icon } from "../ui/Icon.tsx";
import { Menu } from "../ui/Menu.tsx";
import { Skeleton } from "../ui/Skeleton.tsx";
import { toast } from "../ui/toast.ts";
import css from "./ConversationList.module.css";
import { conversations, download, error, hasMore, loading, loadMore, reload, remove, search, words } from "./list.ts";
import { RenameDialog } from "./RenameDialog.tsx";

const PAUSE_MS = 250;

/** The sidebar's list: searched, by day, each with its menu. */
export function ConversationList() {
  const [renamed, setRenamed] = useState<ConversationHead | null>(null);
  useEffect(() => void reload(), []);
  return (
    <section class={css.section} aria-label={t("conversations")}>
      <SearchBox />
      <p class="visually-hidden" role="status">
        {words.value && !loading.value ? t("results", conversations.value.length) : ""}
      </p>
      <div class={css.scroll}>
        {groups(conversations.value).map(({ name, heads }) => (
          <div key={name}>
            <h3 class={css.day}>{t(name)}</h3>
            <ul>
              {heads.map((head) => (
                <Item key={head.conversation_id} head={head} rename={() => setRenamed(head)} />
              ))}
            </ul>
          </div>
        ))}
        <Rest />
      </div>
      {renamed && <RenameDialog head={renamed} onClose={() => setRenamed(null)} />}
    </section>
  );
}

function Rest() {
  if (error.value !== null) return <ErrorNotice error={error.value} retry={() => void reload()} />;
  if (hasMore.value === null) return <Skeleton lines={6} label={t("conversations_loading")} />;
  if (hasMore.value) {
    return (
      <Button size="s" kind="quiet" busy={loading.value} onClick={() => void loadMore()}>
        {t("more")}
      </Button>
    );
  }
  if (conversations.value.length) return null;
  return <p class={css.none}>{words.value ? t("conversations_none", words.value) : t("conversations_empty")}</p>;
}

function SearchBox() {
  const [typed, setTyped] = useState(words.value);
  useEffect(() => {
    if (typed === words.value) return;
    const timer = setTimeout(() => void search(typed), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  return (
    <label class={css.search}>
      <Icon name="search" size={16} />
      <span class="visually-hidden">{t("search")}</span>
      <input
        type="search"
        placeholder={t("search")}
        value={typed}
        onInput={(event) => setTyped(event.currentTarget.value)}
      />
    </label>
  );
}

function Item({ head, rename }: { head: ConversationHead; rename: () => void }) {
  const here = route.value.name === "conversation" && route.value.conversation_id === head.conversation_id;
  const get = (format: "markdown" | "json") => {
    download(head, format).catch((failure: unknown) => toast(adviceOn(asProblem(failure))));
  };
  return (
    <li class={classes(css.item, here && css.here)}>
      <a
        href={href({ name: "conversation", conversation_id: head.conversation_id })}
        aria-current={here ? "page" : undefined}
        title={head.title}
      >
        {head.title}
      </a>
      <Menu
        size="s"
        class={css.menu}
        label={t("options_for", head.title)}
        items={[
          { label: t("rename"), icon: "edit", onSelect: rename },
          { label: t("export_markdown"), icon: "download", onSelect: () => get("markdown") },
          { label: t("export_json"), icon: "download", onSelect: () => get("json") },
          { label: t("delete"), icon: "trash", danger: true, apart: true, onSelect: () => remove(head) },
        ]}
      />
    </li>
  );
}

type Group = { name: "today" | "this_week" | "earlier"; heads: ConversationHead[] };

function groups(heads: readonly ConversationHead[]): Group[] {
  const midnight = new Date().setHours(0, 0, 0, 0);
  const found: Group[] = [
    { name: "today", heads: [] },
    { name: "this_week", heads: [] },
    { name: "earlier", heads: [] },
  ];
  for (const head of heads) {
    const used = new Date(head.updated_at).getTime();
    found[used >= midnight ? 0 : used >= midnight - 6 * 86_400_000 ? 1 : 2]?.heads.push(head);
  }
  return found.filter((group) => group.heads.length);
}
