"""The HTML page: one file with its plots, its style and the list of failures, which can be searched and filtered."""

from collections.abc import Mapping
from html import escape
from typing import Any

from evals.reporting.facts import Facts, failures, plots

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
system.selectedIndex=1;
filter();
"""


def html(facts: Facts) -> str:
    """Return the page."""
    tables = "".join(_table(facts, name) for name in facts.sets)
    figures = "".join(f"<figure>{each}</figure>" for each in plots(facts).values())
    costs = "".join(_cost(system, result) for system, result in facts.results.items())
    problems = "".join(
        f"<li>{escape(system)}, {escape(name)}: {escape(problem)}</li>"
        for system, result in facts.results.items()
        for name, problem in result.get("problems", {}).items()
    )
    made = "".join(
        f"<li><b>{escape(system)}</b>: {escape(_pairs(result['versions']))}; {escape(_pairs(result['settings']))}</li>"
        for system, result in facts.results.items()
    )
    missed = [(system, row) for system, result in facts.results.items() for row in failures(result)]
    reasons = sorted({_reason(row) for _, row in missed})
    items = "".join(_failure(system, row) for system, row in missed)
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Evaluation</title>'
        '<meta name="viewport" content="width=device-width"><style>' + _STYLE + "</style></head><body>"
        f"<h1>Evaluation</h1>{_summary(facts)}"
        f'<div class="plots">{figures}</div>'
        f"<details open><summary><b>All figures</b></summary>{tables}"
        "<p><small>With 95 % bootstrap intervals over questions.</small></p></details>"
        "<h2>What it cost</h2><table><tr><th>system</th><th>chunks</th><th>tokens</th><th>ingest, s</th>"
        f"<th>a query, ms (median)</th><th>p95</th></tr>{costs}</table>"
        f"{'<h2>Problems</h2><ul>' + problems + '</ul>' if problems else ''}"
        f"<details><summary><b>Made with</b></summary><ul>{made}</ul></details>"
        f'<h2>Questions whose expected page is not the first: <span id="shown">{len(missed)}</span></h2>'
        f'<p><input id="query" type="search" placeholder="words" aria-label="words"> '
        f"{_select('system', facts.results)} {_select('why', dict.fromkeys(reasons))}</p>{items}"
        f"<script>{_SCRIPT}</script></body></html>\n"
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
    return (
        f'<details class="failure" data-system="{escape(system)}" data-why="{escape(_reason(row))}"><summary>'
        f"{escape(row['question'])} <span class=why>{escape(row['set'])}, {escape(system)}: {escape(row['why'])}</span>"
        f"</summary><p>Expected: {escape(row['doc'])}, page {pages} <small>{escape(row['id'])}</small>"
        f"{'<br>Answer: ' + escape(row['answer']) if row.get('answer') else ''}"
        f"{'<br>Its best chunk begins: ' + escape(row['gold_text']) if row.get('gold_text') else ''}</p>"
        "<table><tr><th>retrieved from</th><th>pages</th><th>score</th><th>text</th></tr>"
        f"{retrieved}</table><p><small>Pages as ranked: {ranked}</small></p></details>"
    )


def _is_gold(hit: Mapping[str, Any], row: Mapping[str, Any]) -> bool:
    return hit["doc"] == row["doc"] and bool(set(hit["pages"]) & set(row["pages"]))


def _reason(row: Mapping[str, Any]) -> str:
    """Return the reason without its rank, so that reasons can be chosen from a list."""
    return "the expected page came later" if row["gold_rank"] else str(row["why"])


def _select(name: str, options: Mapping[str, Any]) -> str:
    entries = "".join(f"<option>{escape(option)}</option>" for option in options)
    return f'<select id="{name}" aria-label="{name}"><option value="">every {name}</option>{entries}</select>'


def _pairs(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} {value}" for key, value in values.items())
