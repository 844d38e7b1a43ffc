"""The HTML page: one file with its plots, its style and the list of failures, which can be searched and filtered."""

import re
from collections.abc import Mapping
from html import escape
from typing import Any

from evals.reporting.facts import ANSWER_FIGURES, Facts, answer_failures, failures, plots

_STYLE = """
:root{color-scheme:light dark}
body{font:15px/1.5 system-ui,sans-serif;max-width:72rem;margin:2rem auto;padding:0 1rem}
table{border-collapse:collapse;font-variant-numeric:tabular-nums;margin:.5rem 0;display:block;overflow-x:auto}
td,th{padding:.2rem .6rem;border-bottom:1px solid #8884;text-align:right}
td:first-child,th:first-child{text-align:left}
.plots{display:grid;grid-template-columns:repeat(auto-fit,minmax(26rem,1fr));gap:1rem}
svg{width:100%;height:auto;border:1px solid #8884;border-radius:4px}
details{border-bottom:1px solid #8884;padding:.35rem 0}
summary{cursor:pointer}
.why{opacity:.75;font-size:.9em}
figure{margin:0}
.gold td{font-weight:600}
small{opacity:.75}
td small{display:block;white-space:nowrap}
details.failure :is(td,th):nth-child(4){text-align:left;min-width:24rem}
input,select{font:inherit;padding:.2rem .4rem}
"""
_SCRIPT = """
const [query,system,why]=['query','system','why'].map(id=>document.getElementById(id));
function filter(){
  const words=query.value.toLowerCase();let shown=0;
  for(const item of document.querySelectorAll('details.failure')){
    const fits=(!system.value||item.dataset.system===system.value)&&(!why.value||item.dataset.why===why.value)
      &&item.textContent.toLowerCase().includes(words);
    item.hidden=!fits;shown+=fits;
  }
  document.getElementById('shown').textContent=shown;
}
for(const each of [query,system,why])each.addEventListener('input',filter);
if(system.options.length>1)system.selectedIndex=1;
filter();
"""


def html(facts: Facts) -> str:
    """Return the page."""
    missed = [(system, row) for system, result in facts.results.items() for row in failures(result)]
    wrong = [
        (f"answers {n}", row) for n, result in enumerate(facts.answers, start=1) for row in answer_failures(result)
    ]
    reasons = sorted({_reason(row) for _, row in (*missed, *wrong)})
    names = dict.fromkeys(name for name, _ in (*missed, *wrong))
    items = "".join(_failure(name, row) for name, row in missed) + "".join(_answer(name, row) for name, row in wrong)
    figures = "".join(f"<figure>{each}</figure>" for each in plots(facts).values())
    made = "".join(
        f"<li><b>{escape(name)}</b>: {escape(_pairs(result['versions']))}; {escape(_pairs(result['settings']))}</li>"
        for name, result in facts.made_with.items()
    )
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Evaluation</title>'
        '<meta name="viewport" content="width=device-width"><style>' + _STYLE + "</style></head><body>"
        f"<h1>Evaluation</h1>{_summary(facts) if facts.results else ''}"
        f'<div class="plots">{figures}</div>{_retrieval(facts) if facts.results else ""}'
        f"{''.join(map(_answers, facts.answers))}{_problems(facts)}"
        f"<details><summary><b>Made with</b></summary><ul>{made}</ul></details>"
        f'<h2>What went wrong: <span id="shown">{len(missed) + len(wrong)}</span></h2>'
        "<p>Questions whose expected page is not the first, and those refused or answered against what is expected.</p>"
        f'<p><input id="query" type="search" placeholder="words" aria-label="words"> '
        f"{_select('system', names)} {_select('why', dict.fromkeys(reasons))}</p>{items}"
        f"<script>{_SCRIPT}</script></body></html>\n"
    )


def _retrieval(facts: Facts) -> str:
    tables = "".join(_table(facts, name) for name in facts.sets)
    costs = "".join(_cost(system, result) for system, result in facts.results.items())
    return (
        f"<details open><summary><b>All figures</b></summary>{tables}"
        "<p><small>With 95 % bootstrap intervals over questions.</small></p></details>"
        "<h2>What it cost</h2><table><tr><th>system</th><th>chunks</th><th>tokens</th><th>ingest, s</th>"
        f"<th>a query, ms (median)</th><th>p95</th></tr>{costs}</table>"
    )


def _problems(facts: Facts) -> str:
    items = "".join(
        f"<li>{escape(name)}, {escape(file)}: {escape(problem)}</li>"
        for name, result in facts.made_with.items()
        for file, problem in result.get("problems", {}).items()
    )
    return f"<h2>Problems</h2><ul>{items}</ul>" if items else ""


def _answers(result: Mapping[str, Any]) -> str:
    head = "".join(f"<th>{escape(figure.replace('_', ' '))}</th>" for figure in ANSWER_FIGURES)
    rows = []
    for name, figures in result["sets"].items():
        cells = [_cell(figures, figure) if figure in figures else "" for figure in ANSWER_FIGURES]
        rows.append(
            f"<tr><td>{escape(name)}</td><td>{figures['n']}</td>{''.join(f'<td>{each}</td>' for each in cells)}</tr>"
        )
    return (
        f"<h2>Answers, model: {escape(str(result['settings']['model']))}</h2>"
        f"<table><tr><th>set</th><th>n</th>{head}</tr>{''.join(rows)}</table>"
    )


def _summary(facts: Facts) -> str:
    """Put the pages hit of all sets side by side, the best of each column in bold."""
    columns = [(name, metric) for name in facts.sets for metric in facts.hits]
    best = {
        (name, metric): max(each["sets"][name][metric] for each in facts.results.values() if name in each["sets"])
        for name, metric in columns
    }
    head = "".join(f'<th colspan="{len(facts.hits)}">{escape(name)}</th>' for name in facts.sets)
    second = "".join(f"<th>{escape(metric)}</th>" for _, metric in columns)
    rows = []
    for system, result in facts.results.items():
        cells = []
        for name, metric in columns:
            value = result["sets"].get(name, {}).get(metric)
            text = "" if value is None else f"{value:.3f}"
            cells.append(f"<td><b>{text}</b></td>" if value == best[name, metric] else f"<td>{text}</td>")
        rows.append(f"<tr><td>{escape(system)}</td>{''.join(cells)}</tr>")
    return f"<table><tr><th></th>{head}</tr><tr><th>system</th>{second}</tr>{''.join(rows)}</table>"


def _cost(system: str, result: Mapping[str, Any]) -> str:
    cost = result["cost"]
    query = cost["query_milliseconds"].values()
    cells = (
        f"{cost['chunks']:,}",
        f"{cost['tokens']:,}",
        f"{cost['ingest_seconds']['all']:.1f}",
        f"{sum(each['p50'] for each in query):.1f}",
        f"{sum(each['p95'] for each in query):.1f}",
    )
    return f"<tr><td>{escape(system)}</td>{''.join(f'<td>{each}</td>' for each in cells)}</tr>"


def _table(facts: Facts, name: str) -> str:
    head = "".join(f"<th>{escape(metric)}</th>" for metric in facts.metrics)
    rows = []
    for system, result in facts.results.items():
        if name in result["sets"]:
            figures = result["sets"][name]
            cells = "".join(f"<td>{_cell(figures, metric)}</td>" for metric in facts.metrics)
            rows.append(f"<tr><td>{escape(system)}</td><td>{figures['n']}</td>{cells}</tr>")
    return f"<h2>{escape(name)}</h2><table><tr><th>system</th><th>n</th>{head}</tr>{''.join(rows)}</table>"


def _cell(figures: Mapping[str, Any], metric: str) -> str:
    low, high = figures["ci"][metric]
    return f"{figures[metric]:.3f} <small>{low:.2f}–{high:.2f}</small>"


def _failure(system: str, row: Mapping[str, Any]) -> str:
    pages = ", ".join(map(str, row["pages"]))
    retrieved = "".join(
        f"<tr{' class=gold' if _is_gold(each, row) else ''}><td>{escape(each['doc'])}</td>"
        f"<td>{escape(', '.join(map(str, each['pages'])))}</td><td>{each['score']:.3f}</td>"
        f"<td>{escape(each['text'])}</td></tr>"
        for each in row.get("retrieved", [])
    )
    ranked = "; ".join(f"{escape(each['doc'])} p. {each['page']}" for each in row["ranked"])
    expected = f"{escape(row['doc'])}, page {pages}" if pages else "no page answers it"
    return (
        f'<details class="failure" data-system="{escape(system)}" data-why="{escape(_reason(row))}"><summary>'
        f"{escape(row['question'])} <span class=why>{escape(row['set'])}, {escape(system)}: {escape(row['why'])}</span>"
        f"</summary><p>Expected: {expected} <small>{escape(row['id'])}</small>"
        f"{'<br>Answer: ' + escape(row['answer']) if row.get('answer') else ''}"
        f"{'<br>Its best chunk begins: ' + escape(row['gold_text']) if row.get('gold_text') else ''}</p>"
        "<table><tr><th>retrieved from</th><th>pages</th><th>score</th><th>text</th></tr>"
        f"{retrieved}</table><p><small>Pages as ranked: {ranked}</small></p></details>"
    )


def _answer(name: str, row: Mapping[str, Any]) -> str:
    quotes = "".join(
        f"<li>[{each['n']}] {escape(each['doc'])} p. {each['pages'][0]}: {escape(each['quote'])}</li>"
        for each in row.get("citations", [])
    )
    return (
        f'<details class="failure" data-system="{escape(name)}" data-why="{escape(_reason(row))}"><summary>'
        f"{escape(row['question'])} <span class=why>{escape(row['set'])}, {escape(name)}: {escape(row['why'])}</span>"
        f"</summary><p>Expected: {escape(row['expected'] or 'no answer')} <small>{escape(row['id'])}</small></p>"
        f"<p>{escape(row['answer'])}</p><ul>{quotes}</ul></details>"
    )


def _is_gold(hit: Mapping[str, Any], row: Mapping[str, Any]) -> bool:
    return hit["doc"] == row["doc"] and bool(set(hit["pages"]) & set(row["pages"]))


def _reason(row: Mapping[str, Any]) -> str:
    """Return the reason without its numbers, so that reasons can be chosen from a list."""
    return re.sub(r" at rank \d+$| \(.*\)$", "", str(row["why"])).partition(";")[0]


def _select(name: str, options: Mapping[str, Any]) -> str:
    entries = "".join(f"<option>{escape(option)}</option>" for option in options)
    return f'<select id="{name}" aria-label="{name}"><option value="">every {name}</option>{entries}</select>'


def _pairs(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} {value}" for key, value in values.items())
