import { t } from "../i18n/frame.ts";
import { chooseLocale, LOCALES, type Locale, locale } from "../i18n/locale.ts";
import { Icon, type IconName } from "../ui/Icon.tsx";
import css from "./Preferences.module.css";
import { chooseTheme, type Theme, theme } from "./theme.ts";

export const LANGUAGES: Record<Locale, string> = { en: "English", lt: "Lietuvių" };
export const THEMES: readonly { value: Theme; icon: IconName }[] = [
  { value: "light", icon: "sun" },
  { value: "dark", icon: "moon" },
  { value: "system", icon: "system" },
];

/** Language and appearance, side by side. */
export function Preferences() {
  return (
    <div class={css.preferences}>
      <Choice legend={t("language")} name="language" chosen={locale.value} choose={chooseLocale}>
        {LOCALES.map((value) => ({ value, label: LANGUAGES[value] }))}
      </Choice>
      <Choice legend={t("theme")} name="theme" chosen={theme.value} choose={chooseTheme}>
        {THEMES.map(({ value, icon }) => ({ value, label: t(value), icon }))}
      </Choice>
    </div>
  );
}

interface ChoiceProps<Value extends string> {
  legend: string;
  name: string;
  chosen: Value;
  choose: (value: Value) => void;
  children: { value: Value; label: string; icon?: IconName }[];
}

function Choice<Value extends string>({ legend, name, chosen, choose, children }: ChoiceProps<Value>) {
  return (
    <fieldset class={css.choice}>
      <legend class="visually-hidden">{legend}</legend>
      {children.map(({ value, label, icon }) => (
        <label key={value} title={label}>
          <input
            class="visually-hidden"
            type="radio"
            name={name}
            value={value}
            checked={value === chosen}
            onChange={() => choose(value)}
          />
          {icon ? <Icon name={icon} size={16} /> : label}
          {icon && <span class="visually-hidden">{label}</span>}
        </label>
      ))}
    </fieldset>
  );
}
