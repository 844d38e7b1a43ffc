import { locale } from "./locale.ts";

/** A text, or a function that makes one of what it is given. */
type Line = string | ((...args: never[]) => string);

/** What another language has to say: the same names, and functions of the same arguments. */
export type Messages<English> = {
  [Name in keyof English]: English[Name] extends (...args: infer Args) => string ? (...args: Args) => string : string;
};

type Arguments<Said> = Said extends (...args: infer Args) => string ? Args : [];

/** Return `t`, which says a line of one subject in the page's language; a component that calls it follows a switch. */
export function translator<English extends Record<string, Line>>(en: English, lt: Messages<English>) {
  return <Name extends keyof English>(name: Name, ...args: Arguments<English[Name]>): string => {
    const line: unknown = locale.value === "lt" ? lt[name] : en[name];
    return typeof line === "function" ? line(...args) : String(line);
  };
}

type English = { one: string; other: string };
type Lithuanian = { one: string; few: string; other: string };
const rules = { en: new Intl.PluralRules("en"), lt: new Intl.PluralRules("lt") };

/** "1 page", "2 pages": the form of the word that English uses after `n`. */
export function en(n: number, forms: English): string {
  return `${n.toLocaleString("en")} ${rules.en.select(n) === "one" ? forms.one : forms.other}`;
}

/** „1 puslapis“, „2 puslapiai“, „10 puslapių“: the form of the word that Lithuanian uses after `n`. */
export function lt(n: number, forms: Lithuanian): string {
  const rule = rules.lt.select(n);
  return `${n.toLocaleString("lt")} ${rule === "one" ? forms.one : rule === "few" ? forms.few : forms.other}`;
}
