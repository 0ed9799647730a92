"""The report of a plan: a page in plain words for people who decide, with charts, that loads nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from sfumato.accounting.losses.measures import Loss
from sfumato.accounting.meaning.attacker import Attacker
from sfumato.charts.in_pages import for_page
from sfumato.errors import MissingExtra, SfumatoError
from sfumato.planning.limits import beside_others, right_of_thousand
from sfumato.planning.record import FOUR, Plan, Step, alike, amount_words, error_words
from sfumato.release.render.document import Table
from sfumato.release.render.html import escaped
from sfumato.release.render.words import percent

if TYPE_CHECKING:
    from sfumato.charts.canvas import Chart
    from sfumato.planning.rehearsing import DryRun

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; --paper: #fbfbfa; --card: #ffffff; --rule: #dfe2e6; --soft: #5a6270; --mark: #b4470a;
  --chart-ink: #1f2430; --chart-muted: #636b7a; --chart-faint: #dfe2e6; }}
@media (prefers-color-scheme: dark) {{ :root {{ --paper: #14171c; --card: #1c2027; --rule: #363c46; --soft: #a4adba;
  --mark: #ff9a5a; --chart-ink: #eceff4; --chart-muted: #a4adba; --chart-faint: #3a414c; --chart-blue: #5ab0e6;
  --chart-orange: #ff8a42; --chart-green: #2cc596; --chart-purple: #d78fba; }} }}
body {{ font-family: system-ui, "Segoe UI", "Liberation Sans", Arial, sans-serif; margin: 0; line-height: 1.55;
  background: var(--paper); color: var(--chart-ink); }}
main {{ max-width: 50rem; margin: 0 auto; padding: 2.5rem 1.25rem 4rem; }}
h1 {{ font-size: 1.75rem; line-height: 1.25; margin: 0 0 .4rem; }}
h2 {{ font-size: 1.2rem; margin: 0 0 .5rem; }}
.lead {{ font-size: 1.06rem; margin: 0; }}
section {{ background: var(--card); border: 1px solid var(--rule); border-radius: 10px; padding: 1.3rem 1.4rem;
  margin-top: 1.25rem; }}
section > p:first-of-type {{ margin-top: 0; }}
figure {{ margin: 1rem 0 0; overflow-x: auto; }}
svg {{ max-width: 100%; height: auto; display: block; overflow: visible; }}
svg text {{ font-family: "Liberation Sans", Arial, Helvetica, sans-serif; }}
.scroll {{ overflow-x: auto; margin-top: .8rem; }}
table {{ border-collapse: collapse; font-size: .92rem; width: 100%; }}
th, td {{ text-align: left; vertical-align: top; padding: .4rem .9rem .4rem 0; border-bottom: 1px solid var(--rule);
  overflow-wrap: break-word; }}
thead th {{ color: var(--soft); font-weight: 600; }}
tbody th {{ font-weight: 600; min-width: 8rem; }}
td.keep {{ white-space: nowrap; }}
.soft, footer {{ color: var(--soft); font-size: .92rem; }}
.warn {{ border-left: 4px solid var(--mark); padding-left: .9rem; }}
code {{ font-size: .85rem; overflow-wrap: anywhere; }}
ul {{ margin: .5rem 0 0; padding-left: 1.2rem; }}
footer {{ margin-top: 1.75rem; }}
@media print {{ section {{ break-inside: avoid; }} }}
</style>
</head>
<body>
<main>
<h1>{title}</h1>
<p class="lead">{lead}</p>
{sections}
<footer>{footer}</footer>
</main>
</body>
</html>
"""

FOOTER = (
    "This plan was made from public facts alone: no data was opened and nothing was spent. Losses are worked out "
    "exactly and rounded up; errors are those of the noise, and say nothing of errors in the data itself."
)

TOGETHER = {
    "Pure": "all together, as ε",
    "Approx": "all together, as (ε, δ)",
    "ZCDP": "all together, as ρ",
    "GDP": "all together, as μ",
}


def unbroken(loss: Loss) -> str:
    """A loss that no line breaks inside a number."""
    return str(loss).replace("e-", "e\N{NON-BREAKING HYPHEN}").replace(" = ", "\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}")


def page(plan: Plan, run: DryRun | None = None) -> str:
    """Writes the page, with what came out of a dry run, where there was one."""
    lead = (
        f"{len(plan.steps)} statistic{'s' * (len(plan.steps) != 1)} would be published. Protected is {plan.protects}. "
        f"What may be spent on all of it: {unbroken(plan.limit)}."
    )
    parts = [_known(plan), _errors(plan), _means(plan), _others(plan), _money(plan), _dropped(plan), _forms(plan)]
    parts += [_not_protected(plan), _notes(plan), _rehearsed(run), _asked(plan)]
    return PAGE.format(
        title=escaped(f"Plan: {plan.title}"),
        lead=escaped(lead),
        sections="\n".join(part for part in parts if part),
        footer=escaped(FOOTER),
    )


def section(title: str, *parts: str, kind: str = "") -> str:
    """Writes a section of a page, of parts that are HTML already."""
    mark = f' class="{kind}"' if kind else ""
    return f"<section{mark}><h2>{escaped(title)}</h2>\n" + "\n".join(part for part in parts if part) + "\n</section>"


def paragraph(text: str, *, soft: bool = False) -> str:
    """Writes a sentence or several."""
    return f'<p class="soft">{escaped(text)}</p>' if soft else f"<p>{escaped(text)}</p>"


def listed(table: Table, *, keep: Sequence[int] = ()) -> str:
    """Writes a table; cells of the columns to ``keep`` stay on one line."""
    head = "".join(f'<th scope="col">{escaped(cell)}</th>' for cell in table.head)
    rows = "\n".join(_row(row, keep) for row in table.rows)
    above = f"<thead><tr>{head}</tr></thead>" if head else ""
    return f'<div class="scroll"><table>{above}<tbody>\n{rows}\n</tbody></table></div>'


def _row(row: Sequence[str], keep: Sequence[int]) -> str:
    name, *rest = row
    cells = "".join(f"<td{' class=keep' * (place in keep)}>{escaped(cell)}</td>" for place, cell in enumerate(rest, 1))
    return f'<tr><th scope="row">{escaped(name)}</th>{cells}</tr>'


def figure(draw: Callable[[], Chart]) -> str:
    """Draws a chart inside the page; nothing where charts are not installed, or there is nothing to draw."""
    try:
        return f"<figure>{for_page(draw())}</figure>"
    except (MissingExtra, SfumatoError):
        return ""


def _known(plan: Plan) -> str:
    rows = tuple((step.name, error_of(step), percent(step.confidence)) for step in plan.steps)
    said = (
        "In this order. Each number gets random noise that hides any one person; how much is known beforehand. The "
        "exact number is within the error bar as often as the last column says."
    )
    table = Table(rows, ("statistic", "how exact it will be", "how sure"))
    return section("What will be known", paragraph(said), listed(table, keep=(2,)))


def error_of(step: Step) -> str:
    """The errors of a statistic in words, the first few of many."""
    every = alike(step.numbers)
    said = [f"{name}: {error_words(one)}" if len(every) > 1 else error_words(one) for name, one in every[:FOUR]]
    more = len(every) - FOUR
    return "; ".join(said) + (f"; and {more} more" if more > 0 else "")


def _errors(plan: Plan) -> str:
    drawn = figure(lambda: plan.chart("errors"))
    said = "A tenth is often good enough to see what is large and what is small; a hundredth is good enough to compare."
    return section("How exact", paragraph(said), drawn) if drawn else ""


def _means(plan: Plan) -> str:
    """What the loss means to one person: in frequencies, as people understand best."""
    try:
        right = right_of_thousand(plan.cost, delta=plan.delta)
    except SfumatoError:
        return ""
    said = (
        "Think of 1,000 people, half of them in the data and half not, and of somebody who wants to find out which. "
        "They know everything about everybody else, and see all that is published. By tossing a coin they would be "
        f"right about 500 of the 1,000. With all of these statistics they are right about {right} at most."
    )
    more = "What the statistics say about people in general, they may say about anybody, in the data or not."
    return section(
        "What it means to one person",
        paragraph(said),
        figure(lambda: plan.chart("people")),
        paragraph(f"{_suspicion(plan)} {more}".strip(), soft=True),
    )


def _suspicion(plan: Plan) -> str:
    loss = plan.totals.get("Pure") or plan.totals.get("Approx") or plan.cost
    try:
        after = Attacker(loss).certainty("0.05", prior="0.1")  # type: ignore[arg-type]  # refused where it cannot be read
    except SfumatoError:
        return ""
    return (
        "Whoever suspected something of a person with 10 % certainty before may come to at most "
        f"{_percent(float(after))} by a test that accuses 5 % of the innocent."
    )


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"


def _others(plan: Plan) -> str:
    table = beside_others(plan.cost, delta=plan.delta)
    if not table.rows:
        return ""
    said = f"{table.title} than this plan. Beside it stand those nearest to it."
    caution = (
        "The numbers compare only where the same is protected: a person for ever is more than a person in a month."
    )
    return section(
        "What others have done",
        paragraph(said),
        figure(lambda: plan.chart("others")),
        listed(Table(table.rows, table.head), keep=(2,)),
        paragraph(caution, soft=True),
    )


def _money(plan: Plan) -> str:
    said = (
        "The limit is what may be spent in all; what was spent never comes back. Statistics with a stated precision "
        "were bought first, at the least that meets it; the others share the rest so that errors are least in all."
    )
    rows = tuple((name, str(loss)) for name, loss in (("limit", plan.limit), ("the ledger counts", plan.cost)))
    rows += tuple((TOGETHER.get(kind, kind), str(loss)) for kind, loss in plan.totals.items())
    rows += tuple((f"for {who}", str(loss)) for who, loss in plan.beside)
    return section(
        "What it costs", paragraph(said), figure(lambda: plan.chart("shares")), listed(Table(rows, ("", "loss")))
    )


def _dropped(plan: Plan) -> str:
    if not plan.dropped:
        return ""
    rows = tuple((one.name, one.why, str(one.priority)) for one in plan.dropped)
    said = "The limit does not pay for these, and they are left out; what matters least goes first."
    more = ""
    if plan.factor is not None:
        more = paragraph(
            f"To keep them all, the error bars that are wanted would have to be {float(plan.factor):.3g} times as wide."
        )
    return section(
        "What is left out", paragraph(said), listed(Table(rows, ("statistic", "why", "priority"))), more, kind="warn"
    )


def _forms(plan: Plan) -> str:
    if plan.forms is None:
        return ""
    parts = [f"<h3>{escaped(title)}</h3>{listed(Table(rows))}" for title, rows in plan.forms.sections() if rows]
    return section("Between whom, and on which terms", *parts)


def _not_protected(plan: Plan) -> str:
    if not plan.not_protected:
        return ""
    items = "".join(f"<li>{escaped(one)}</li>" for one in plan.not_protected)
    return section("What is not protected", f"<ul>{items}</ul>", kind="warn")


def _notes(plan: Plan) -> str:
    notes = [*plan.notes, *plan.guesses]
    items = "".join(f"<li>{escaped(one)}</li>" for one in notes)
    return section("To be minded", f"<ul>{items}</ul>") if notes else ""


def _rehearsed(run: DryRun | None) -> str:
    """What answers may look like, and the errors that came out, of data that hides nobody."""
    if run is None:
        return ""
    rows = []
    for one in run.shown:
        if one.examples:
            exact, *outcomes = one.examples
            rows.append((one.name, amount_words(round(exact, 6)), "; ".join(amount_words(value) for value in outcomes)))
    said = (
        f"All of it was tried on {run.data}{', in which nobody is real' * run.made_up}. If the exact number were the "
        "one in the middle, repeated runs would publish numbers such as those on the right; only one of them ever is."
    )
    held = (
        "All intervals held as often as they promise." if run.kept else "Some intervals held less often than promised."
    )
    return section(
        "What answers may look like",
        paragraph(said),
        listed(Table(tuple(rows), ("number", "exact", "what might be published")), keep=(1,)) if rows else "",
        figure(run.chart),
        paragraph(held, soft=True),
    )


def _asked(plan: Plan) -> str:
    """The steps as they will be asked, for those who look closely."""
    rows = "\n".join(
        f'<tr><th scope="row">{escaped(step.name)}</th><td><code>{escaped(step.sql)}</code></td>'
        f"<td>{escaped(str(step.loss))}</td><td>{escaped(step.mechanism)}</td></tr>"
        for step in plan.steps
    )
    head = "".join(f'<th scope="col">{cell}</th>' for cell in ("statistic", "question", "price", "mechanism"))
    table = f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>\n{rows}\n</tbody></table></div>'
    book = f"Made from the codebook with the digest {plan.digest[:16]}…"
    return section("How it will be asked", table, paragraph(book, soft=True))
