import { ConversationList } from "../conversations/ConversationList.tsx";
import { t } from "../i18n/frame.ts";
import { chooseLocale, LOCALES, locale } from "../i18n/locale.ts";
import { IconButton } from "../ui/Button.tsx";
import { Icon, type IconName } from "../ui/Icon.tsx";
import { Menu, type MenuItem } from "../ui/Menu.tsx";
import { LANGUAGES, THEMES } from "./Preferences.tsx";
import { href, type Route, route } from "./router.ts";
import css from "./Sidebar.module.css";
import { can, type Role, session, signOut } from "./session.ts";
import { chooseTheme, theme } from "./theme.ts";
import { Wordmark } from "./Wordmark.tsx";

type Place = { to: Extract<Route, { name: PlaceName }>; icon: IconName; roles: readonly Role[] };
type PlaceName = "documents" | "queue" | "faqs" | "unanswered" | "feedback" | "admin";

const PLACES: readonly Place[] = [
  { to: { name: "documents" }, icon: "document", roles: ["reader", "editor", "agent", "admin"] },
  { to: { name: "queue" }, icon: "inbox", roles: ["agent", "editor", "admin"] },
  { to: { name: "faqs" }, icon: "faq", roles: ["editor", "admin"] },
  { to: { name: "unanswered" }, icon: "help", roles: ["editor", "admin"] },
  { to: { name: "feedback" }, icon: "thumbUp", roles: ["editor", "admin"] },
  { to: { name: "admin" }, icon: "settings", roles: ["admin"] },
];

/** Where one can go, one's conversations, and the account. */
export function Sidebar({ onClose }: { onClose: (() => void) | null }) {
  return (
    <div class={css.sidebar}>
      <div class={css.top}>
        <a href="#/" class={css.home} aria-label={`Recto: ${t("new_chat")}`}>
          <Wordmark />
        </a>
        {onClose && <IconButton icon="close" label={t("close_menu")} onClick={onClose} />}
      </div>
      <nav aria-label={t("main")} class={css.nav}>
        <a href="#/" class={css.new} aria-current={route.value.name === "chat" ? "page" : undefined}>
          <Icon name="add" />
          {t("new_chat")}
        </a>
        {PLACES.filter(({ roles }) => can(...roles)).map(({ to, icon }) => (
          <a key={to.name} href={href(to)} class={css.place} aria-current={isAt(to.name) ? "page" : undefined}>
            <Icon name={icon} />
            {t(to.name)}
          </a>
        ))}
      </nav>
      <ConversationList />
      <Account />
    </div>
  );
}

function isAt(place: PlaceName): boolean {
  const { name } = route.value;
  return name === place || (place === "documents" && name === "document") || (place === "queue" && name === "handoff");
}

function Account() {
  const who = session.value;
  if (!who) return null;
  const items: MenuItem[] = [
    ...THEMES.map(({ value, icon }) => ({
      label: t(value),
      icon,
      checked: theme.value === value,
      onSelect: () => chooseTheme(value),
    })),
    ...LOCALES.map((value, at) => ({
      label: LANGUAGES[value],
      icon: "globe" as const,
      checked: locale.value === value,
      apart: at === 0,
      onSelect: () => chooseLocale(value),
    })),
    { label: t("sign_out"), icon: "logout", apart: true, onSelect: () => void signOut() },
  ];
  return (
    <div class={css.account}>
      <Menu
        label={`${t("account")}: ${who.email}`}
        side="above"
        align="start"
        class={css.accountMenu}
        items={items}
        trigger={
          <>
            <span class={css.face} aria-hidden="true">
              {(who.email[0] ?? "?").toUpperCase()}
            </span>
            <span class={css.who}>
              <span class={css.email}>{who.email}</span>
              <span class={css.role}>
                {who.roles.map((role) => t(`role_${role}`)).join(", ")} · {who.tenant}
              </span>
            </span>
            <Icon name="chevronDown" size={16} />
          </>
        }
      />
    </div>
  );
}
