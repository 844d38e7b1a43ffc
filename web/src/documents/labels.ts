import type { Document } from "../api/types.ts";
import type { Labels } from "./calls.ts";

export const NAMES = ["chapter", "phase", "goal", "type", "department_id"] as const;
/** The fields of the identity card: a label of that name stands in place of what was found. */
export const CARD = ["organisation", "author", "kind", "period", "date", "version", "product"] as const;
export type LabelName = (typeof NAMES)[number];
export type CardName = (typeof CARD)[number];
export type LabelForm = Record<LabelName | CardName, string> & { tags: string };

const MAX_TAGS = 20;
const MAX_CHARACTERS = 200;

const NO_CARD = { organisation: "", author: "", kind: "", period: "", date: "", version: "", product: "" };
export const EMPTY_FORM: LabelForm = {
  ...{ chapter: "", phase: "", goal: "", type: "", department_id: "", tags: "" },
  ...NO_CARD,
};

export function formOf({ labels }: Document): LabelForm {
  const { chapter = "", phase = "", goal = "", type = "", department_id = "", tags = [] } = labels;
  const card = Object.fromEntries(CARD.map((name) => [name, shown(labels[name])])) as typeof NO_CARD;
  return { chapter, phase, goal, type, department_id, tags: tags.join(", "), ...card };
}

/** A value of the identity card in one line; names of companies hold commas. */
export function shown(value: string | string[] | undefined): string {
  return Array.isArray(value) ? value.join("; ") : (value ?? "");
}

/** What was found of a field that no label stands for. */
export function foundOf({ identity, labels }: Document, name: CardName): string {
  return shown(labels[name]) ? "" : shown(identity[name]);
}

/** All labels in a row, tags first. */
export function labelsOf({ labels }: Document): string[] {
  return [...(labels.tags ?? []), ...NAMES.map((name) => labels[name] ?? "")].filter(Boolean);
}

/** The tags of a field, each once; null if there are too many, or one is too long. */
export function tagsOf(typed: string): string[] | null {
  const tags = [...new Set(typed.split(",").map((tag) => tag.trim()))].filter(Boolean);
  return tags.length > MAX_TAGS || tags.some((tag) => tag.length > MAX_CHARACTERS) ? null : tags;
}

/** What a form changes of one document: null takes a label away. */
export function changesOf(document: Document, form: LabelForm): Labels {
  const before = formOf(document);
  const changed: Labels = {};
  for (const name of NAMES) {
    const value = form[name].trim();
    if (value !== before[name]) changed[name] = value || null;
  }
  for (const name of CARD) {
    const value = form[name].trim();
    if (value !== before[name]) correct(changed, name, value);
  }
  const tags = tagsOf(form.tags) ?? [];
  if (tags.join("\n") !== tagsBefore(document).join("\n")) changed.tags = tags.length ? tags : null;
  return changed;
}

/** What a form adds to one of several documents: empty fields change nothing. */
export function additionsOf(document: Document, form: LabelForm): Labels {
  const added: Labels = {};
  for (const name of NAMES) {
    const value = form[name].trim();
    if (value && value !== document.labels[name]) added[name] = value;
  }
  for (const name of CARD) {
    const value = form[name].trim();
    if (value && value !== shown(document.labels[name])) correct(added, name, value);
  }
  const before = tagsBefore(document);
  const tags = [...new Set([...before, ...(tagsOf(form.tags) ?? [])])];
  if (tags.length > before.length) added.tags = tags;
  return added;
}

function correct(labels: Labels, name: CardName, value: string): void {
  if (name === "organisation" || name === "author" || name === "period") {
    const values = value.split(";").map((each) => each.trim());
    labels[name] = value ? values.filter(Boolean) : null;
  } else labels[name] = value || null;
}

function tagsBefore({ labels }: Document): string[] {
  return labels.tags ?? [];
}
