"""Made text, the same for the same seed: sentences, headings, labels, figures, as varied as those of real documents."""

import random
from collections.abc import Sequence

WHO = (
    "the registrant", "our committee", "each subsidiary", "the operator", "every non-local supplier", "Mr. Lee",
    "the Company", "a technician", "the harbour authority", "Acme Ltd.", "this long-term agreement",
    "the three-phase motor",
)  # fmt: skip
DOES = (
    "inspects", "has approved", "shall maintain", "reported", "replaces", "is responsible for", "may withhold",
    "does not guarantee", "completed", "re-examined", "recognises", "acquired",
)  # fmt: skip
WHAT = (
    "the hydraulic pump", "all outstanding invoices", "the environmental assessment", "a state-of-the-art filter",
    "its operating expenses", "the e-mail address", "the annual maintenance", "several performance obligations",
    "the co-operation agreement", "pressure and temperature", "the self-test of the controller",
    "an interest rate swap",
)  # fmt: skip
WHEN = (
    "in fiscal 2021", "on March 3, 2020", "at 12.5 bar", "for the first time", "within 30 days",
    "of about $ 4.2 million",
    "as described in Section 4.1", "see Fig. 3", "according to No. 17", "e.g. during winter", "(see Note 12)",
    "and the rest of the year", "between 1998 and 2004", "by 7 %", "from 5 to 10 °C", "whichever is later",
)  # fmt: skip
LONG = (
    "responsibility", "administration", "communication", "environmental", "infrastructure", "approximately",
    "documentation", "representative", "manufacturing", "configuration",
)  # fmt: skip
RICH = """
    effects offices affairs differences coffee staff buffers offers suffixes chaffinch traffic cliffs sheriff giraffe
    balance sheets estimates ledgers harvests gardens kitchens windows mountains rivers valleys bridges tunnels stations
    platforms carriages engines wheels brakes signals lanterns mirrors curtains carpets ceilings chimneys staircases
    libraries museums galleries theatres concerts orchestras violins trumpets drummers singers dancers painters
    sculptors writers printers binders sellers readers teachers students scholars lawyers judges witnesses doctors
    nurses patients hospitals medicines bandages surgeons dentists bakers butchers farmers shepherds fishermen sailors
    captains pirates islands lighthouses anchors ropes compasses telescopes planets comets eclipses seasons thunder
    lightning rainbows hailstones snowflakes glaciers avalanches earthquakes volcanoes craters deserts oases camels
    elephants tigers leopards monkeys parrots sparrows swallows pigeons falcons eagles vultures penguins dolphins
    whales sharks salmon herring oysters lobsters spiders beetles butterflies bumblebees grasshoppers crickets
    mosquitoes dragonflies orchids tulips daffodils sunflowers lavender rosemary cinnamon ginger mustard vinegar
    porcelain crystal marble granite sandstone limestone copper silver platinum mercury sulphur carbon hydrogen oxygen
    nitrogen helium neon argon photographs telegraphs typewriters bicycles motorcycles aeroplanes helicopters
    parachutes submarines locomotives under-standing over-heads long-term short-lived well-known half-hearted
""".split()  # noqa: SIM905
"""Words enough for a document to know the halves of its words by them; many have an "ff" or a hyphen."""
NOUNS = (
    "Revenue", "Costs of sales", "Net income", "Depreciation", "Total assets", "Inventories", "Deferred taxes",
    "Goodwill", "Other liabilities", "Cash flow", "Pump", "Valve", "Filter", "Bearings", "Gasket", "Housing",
)  # fmt: skip
TOPICS = (
    "Safety instructions", "Results of operations", "Scope", "Maintenance", "Terms and definitions", "Liquidity",
    "Installation of the pump", "Risk factors", "Market overview", "Governance", "Test methods", "Spare parts",
)  # fmt: skip
PLACES = ("Vilnius", "Oslo", "Graz", "Porto", "Leeds", "Turin", "Lyon", "Ghent")
OTHERS = {
    "de": (
        "Die Anlage ist vor der Inbetriebnahme zu prüfen und darf nicht ohne Aufsicht betrieben werden. Der Bediener "
        "muss die Sicherheitshinweise gelesen haben, z. B. zum Druck-\u00ad und Temperaturbereich der Pumpe."
    ),
    "fr": (
        "Le présent rapport décrit les résultats de l'exercice et les perspectives de la société pour l'année à venir. "
        "Les comptes ont été approuvés par le conseil d'administration, qui n'a pas d'observations à formuler."
    ),
    "lt": (
        "Bendrovės vadovybė yra atsakinga už šių finansinių ataskaitų parengimą ir teisingą pateikimą pagal "
        "galiojančius teisės aktus. Ataskaitos turi būti patvirtintos visuotinio susirinkimo per 30 dienų."
    ),
    "ru": (
        "Настоящий отчет описывает результаты деятельности компании за год и планы на будущее. Все показатели были "
        "проверены независимым аудитором, который не имеет замечаний по отчетности."
    ),
    "ja": "本書は製品の安全な使用方法を説明します。使用前に必ずお読みください。電源を切ってから点検してください。",
}
"""A few sentences each, by language."""


class Author:
    """Writes what a document says; all chance comes from `pick`."""

    def __init__(self, pick: random.Random) -> None:
        self.pick = pick

    def clause(self) -> str:
        """Return a clause without its stop."""
        words = [self.pick.choice(WHO), self.pick.choice(DOES), self.pick.choice(WHAT)]
        words += [self.pick.choice(WHEN)] if self.pick.random() < 0.7 else []
        words += ["with", self.pick.choice(LONG)] if self.pick.random() < 0.4 else []
        return " ".join(words)

    def sentence(self) -> str:
        """Return a sentence."""
        text = self.clause()
        if self.pick.random() < 0.35:
            text += self.pick.choice((", and ", "; ", ", which ", " (", " - ", ", ")) + self.clause()
            text += ")" if "(" in text and ")" not in text.rsplit("(", 1)[1] else ""
        end = self.pick.choices((".", "?", ":", "!", ".”"), (20, 1, 1, 1, 1))[0]
        return text[0].upper() + text[1:] + end

    def paragraph(self, least: int = 1, most: int = 4) -> str:
        """Return some sentences."""
        return " ".join(self.sentence() for _ in range(self.pick.randint(least, most)))

    def rich_sentence(self) -> str:
        """Return a sentence of many different words, some of them shown in two, without their "ff", or in capitals."""
        words = ["The"]
        for _ in range(self.pick.randint(4, 9)):
            word = self.pick.choice(RICH if self.pick.random() < 0.5 else RICH[:12])
            at = self.pick.randint(2, len(word) - 2)
            word = self.pick.choices(
                (word, f"{word[:at]} {word[at:]}", word.replace("ff", "f "), word.upper()), (9, 1, 1, 1)
            )[0]
            words += [self.pick.choice(("and", "of the", "in", "with", "for the", "three- and")), word]
        return " ".join(words).replace("The and", "The").replace("The of", "The") + "."

    def words(self, least: int, most: int) -> str:
        """Return some words that make no sentence."""
        text = " ".join([self.clause(), self.clause()]).split()
        return " ".join(text[: self.pick.randint(least, most)])

    def topic(self) -> str:
        """Return what a heading may say."""
        return self.pick.choice(TOPICS)

    def figure(self) -> str:
        """Return a figure of a table, in one of many forms."""
        value, pick = self.pick.randint(1, 99_999), self.pick
        forms = (
            f"{value:,}", f"{value:,}", f"({value:,})", f"{value / 100:.1f}", f"{value % 100} %", "—", "-",
            f"$ {value:,}", f"${value:,}", f"{value % 100}.{value % 10}%", "n/a", str(value),
            f"{value % 90} kg", f"({value % 90}.1)%",
        )  # fmt: skip
        return pick.choice(forms)

    def chosen[T](self, options: Sequence[T], share: float) -> T | None:
        """Return one of the options in a share of all cases."""
        return self.pick.choice(options) if self.pick.random() < share else None


def plain_text(pick: random.Random) -> str:
    """Return the text of a page that no engine has laid out: Markdown, a wiki's, listings, lists, other scripts."""
    author, parts = Author(pick), list[str]()
    for _ in range(pick.randint(2, 9)):
        parts.append(_part(pick, author))
        parts.append(pick.choice(("\n\n", "\n\n", "\n", " \n\n\n", "\n \n")))
    return "".join(parts[:-1])


def _part(pick: random.Random, author: Author) -> str:
    signs, level = "#" * pick.randint(1, 3), "=" * pick.randint(1, 3)
    item = pick.choice(("- ", "* ", "1. ", "(a) ", "iv) ", "| "))
    row = f"| {pick.choice(NOUNS)} | {author.figure()} |"
    forms = (
        author.paragraph(1, 6),
        author.paragraph(4, 9),
        f"{signs} {author.topic()}{pick.choice(('', ' ' + signs))}\n\n{author.paragraph()}",
        f"{level} {author.topic()} {level}\n{author.paragraph()}",
        "\n".join(item + author.words(2, 9) for _ in range(pick.randint(2, 8))),
        "\n".join(["| Item | 2019 |", pick.choice(("|---|---|", row)), *[row] * pick.randint(1, 9)]),
        f"```\nx = {author.figure()}\n\n    y = 2\n```",
        f"```\n{author.words(4, 12)}",
        OTHERS[pick.choice(list(OTHERS))] * pick.randint(1, 3),
        f"{author.clause()}, z.B. No. 5 and U.S. law, cf. Smith et al. [12] ended.3 Then pp. 4 ff. I. Newton, vol. 2. "
        f"“Really?” he said… (yes.) A.B. Lee came e.g. on Mon. 4.",
        "Q: " + author.sentence() + "\nA: " + author.sentence() + " \n" + author.paragraph(),
        pick.choice(("x", "字", "👩‍👩‍👧", "🇱🇹", "각", "e\u0301")) * pick.randint(9, 90),
        "; ".join(author.clause() for _ in range(pick.randint(3, 20))),
        author.clause().lower() + ". " + author.clause().lower() + ". " + author.clause().lower() + ".",
        (" " * pick.choice((3, 300))).join(author.words(3, 9).split()),
        "「はい。」と言った。次の文です！本当ですか？はい。",
    )
    return pick.choice(forms)
