/** What the widget says. English is the type: a line that Lithuanian lacks does not compile. */

const en = {
  ask: "Ask",
  box: "Your question",
  close: "Close",
  empty: "Answers come from the documents only, with the quotes that prove them.",
  failed: "No answer came. Try again.",
  not_allowed: "This site may not ask at the moment.",
  not_answered: "No answer was found in the documents.",
  open: "Ask the documents",
  open_page: (page: number) => `Open page ${page}`,
  page: (page: number, printed: string) =>
    printed && printed !== String(page) ? `page ${page} (printed ${printed})` : `page ${page}`,
  searching: "Searching the documents …",
  source: (number: number) => `Source ${number}`,
  sources: "Sources",
  stop: "Stop",
  unconfirmed: "Not everything is confirmed by the quotes. Read them yourself.",
  unsure: "Recto is not sure that this answers your question: check the sources.",
};

export type Words = typeof en;

const lt: Words = {
  ask: "Klausti",
  box: "Jūsų klausimas",
  close: "Užverti",
  empty: "Atsakoma tik iš dokumentų, su tai įrodančiomis citatomis.",
  failed: "Atsakymo nėra. Bandykite dar kartą.",
  not_allowed: "Ši svetainė šiuo metu negali klausti.",
  not_answered: "Dokumentuose atsakymo nerasta.",
  open: "Klauskite dokumentų",
  open_page: (page) => `Atverti ${page} puslapį`,
  page: (page, printed) =>
    printed && printed !== String(page) ? `psl. ${page} (išspausdinta ${printed})` : `psl. ${page}`,
  searching: "Ieškoma dokumentuose …",
  source: (number) => `${number} šaltinis`,
  sources: "Šaltiniai",
  stop: "Sustabdyti",
  unconfirmed: "Citatos patvirtina ne viską. Perskaitykite jas patys.",
  unsure: "Nėra tikra, ar tai atsako į jūsų klausimą: pasitikrinkite šaltiniuose.",
};

export function wordsFor(language: string): Words {
  return language.toLowerCase().startsWith("lt") ? lt : en;
}
