import type { Faq } from "../api/types.ts";
import type { FaqBody } from "./calls.ts";

/** As the API has it: a language tag such as pt-BR, or nothing. */
export const LANGUAGE_TAG = /^([A-Za-z]{2,8}([-_][A-Za-z0-9]{1,8})*)?$/;

export interface FaqForm {
  question: string;
  answer: string;
  language: string;
  department_id: string;
  /** Lines of "name: value". */
  tags: string;
}

export const EMPTY_FAQ: FaqForm = { question: "", answer: "", language: "", department_id: "", tags: "" };

export function formOfFaq(faq: Faq): FaqForm {
  const { question, answer, language, department_id } = faq;
  const lines = Object.entries(faq.tags).map(([name, value]) => `${name}: ${[value].flat().join(", ")}`);
  return { question, answer, language, department_id, tags: lines.join("\n") };
}

/** What the API takes. */
export function bodyOf(form: FaqForm): FaqBody {
  return {
    question: form.question.trim(),
    answer: form.answer.trim(),
    language: form.language.trim(),
    department_id: form.department_id.trim(),
    tags: tagsOf(form.tags).tags,
  };
}

/** The tags of lines such as "audience: visitors, staff"; `wrong` is the first line that is none. */
export function tagsOf(typed: string): { tags: Record<string, string | string[]>; wrong: string } {
  const tags: Record<string, string | string[]> = {};
  let wrong = "";
  for (const line of typed.split("\n").map((each) => each.trim())) {
    if (!line) continue;
    const [, name = "", value = ""] = /^([^:]{1,40}):(.+)$/.exec(line) ?? [];
    const values = value
      .split(",")
      .map((each) => each.trim())
      .filter(Boolean);
    const [first] = values;
    if (!name.trim() || first === undefined) wrong ||= line;
    else tags[name.trim()] = values.length > 1 ? values : first;
  }
  return { tags, wrong };
}

export type FaqErrors = Partial<
  Record<keyof FaqForm, "question_missing" | "answer_missing" | "language_wrong" | "tags_wrong">
>;

/** What is wrong with a form, field by field. */
export function errorsOf(form: FaqForm): FaqErrors {
  const errors: FaqErrors = {};
  if (!form.question.trim()) errors.question = "question_missing";
  if (!form.answer.trim()) errors.answer = "answer_missing";
  if (!LANGUAGE_TAG.test(form.language.trim())) errors.language = "language_wrong";
  if (tagsOf(form.tags).wrong) errors.tags = "tags_wrong";
  return errors;
}
