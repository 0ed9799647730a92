"""The report on synthetic data: what was measured at which price, how far off it is, what it is and is not good for.

Without a table to compare with, everything in it follows from what was released: it costs nothing and may be published.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Literal, final

import numpy as np

from sfumato.charts.synthetic import Shares
from sfumato.entropy import Entropy, system
from sfumato.errors import BadArgument, MissingExtra
from sfumato.exact import Number
from sfumato.release.render.document import Document, Table
from sfumato.release.render.html import escaped
from sfumato.synth.collapse import Collapse, collapse
from sfumato.synth.counting import Rows, marginals_of
from sfumato.synth.evaluation import Evaluation, evaluate, held_rows
from sfumato.synth.holder import Basis, Judgement
from sfumato.synth.noise_errors import Noise, NoiseErrors, largest_reach, noise_errors
from sfumato.synth.private_errors import noise_family
from sfumato.synth.synthetic import Synthetic
from sfumato.synth.trusting import bad_for, bound_of, good_for
from sfumato.synth.workloads import Workload

if TYPE_CHECKING:
    from sfumato.charts.canvas import Chart

MOST_ROWS = 200_000
"""So many rows are drawn to be looked at, at most."""

FORMS = {".html": "html", ".md": "markdown", ".txt": "text"}
"""What a file of a report holds, by its suffix; pictures besides."""

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ font-family: system-ui, "Segoe UI", "Liberation Sans", Arial, sans-serif; margin: 2.5rem auto; max-width: 64rem;
  padding: 0 1.5rem; line-height: 1.5; }}
figure {{ margin: 1.5rem 0 0; overflow-x: auto; }}
svg {{ max-width: 100%; height: auto; }}
figure > svg {{ background: #fff; border-radius: 4px; }}
</style>
</head>
<body>
{body}
{figures}
</body>
</html>
"""


@final
@dataclass(frozen=True, eq=False, repr=False)
class SyntheticReport(Judgement):
    """What there is to say of synthetic data; it may be published unless it was held against one's own rows.

    ``errors`` are known from the noise alone. ``public`` and ``held`` compare with tables that were given, where any
    were. ``good`` and ``bad`` say in words what the data can and cannot be used for.
    """

    about: tuple[tuple[str, str], ...]
    errors: NoiseErrors | None
    variety: Collapse
    good: tuple[str, ...]
    bad: tuple[str, ...]
    columns: tuple[Shares, ...]
    pairs: tuple[tuple[str, str, float | None], ...]
    public: Evaluation | None = None
    held: Evaluation | None = None
    basis: Basis = Basis.FREE

    def document(self) -> Document:
        """All of it, for any form."""
        tables = [
            Table(self.about),
            Table(tuple(("+", each) for each in self.good), ("", "Good for")),
            Table(tuple(("−", each) for each in self.bad), ("", "Not good for")),
        ]
        parts = [self.errors, self.variety, self.public, self.held]
        told = [part.document() for part in parts if part is not None]
        tables.insert(1, Table(tuple((one.title, f"{one.headline} {one.aside}".strip()) for one in told)))
        tables += [table for one in told for table in one.tables if table.head]
        flags = tuple(f"Collapsed? {flag}" for flag in self.variety.flags)
        warnings = tuple(dict.fromkeys([*self.basis.marks, *flags, *(each for one in told for each in one.warnings)]))
        name = dict(self.about)
        return Document(
            "Synthetic data", f"{name['method']}: {name['rows']}", name["loss"], warnings, tables=tuple(tables)
        )

    def plot(self, what: Literal["columns", "pairs"] = "columns") -> Chart:
        """Draws the values of each column beside what is known of them, or the errors of all pairs of columns."""
        from sfumato.charts.synthetic import column_shares, pair_errors

        if what == "columns":
            return column_shares(self.columns, said=[COLUMNS_SAID])
        if what == "pairs":
            compared = self.held or self.public
            if compared is None or compared.pairs is None:
                return pair_errors(self.pairs, said=[PAIRS_SAID], measured="total variation, at most")
            cells = [(*each.columns, each.total_variation) for each in compared.pairs.errors if len(each.columns) == 2]
            return pair_errors(cells, said=[f"Against {compared.basis.value}", *compared.basis.marks])
        raise BadArgument("what", "'columns' or 'pairs'", what)

    def html(self) -> str:
        """A page of its own, with its charts inside, that opens anywhere and loads nothing."""
        return PAGE.format(title="Synthetic data", body=self.to_html(), figures=self._figures())

    def save(self, path: str | Path) -> Path:
        """Writes the report to a file; the suffix says how: .html, .md, .txt, or .png and .svg for a picture."""
        from sfumato.charts.canvas import save

        target = Path(path)
        if target.suffix in (".png", ".svg"):
            return save(self.plot(), target)
        if target.suffix not in FORMS:
            raise BadArgument("the suffix of a report's file", ", ".join([*FORMS, ".png", ".svg"]), target.suffix)
        text = self.html() if target.suffix == ".html" else self._rendered(FORMS[target.suffix])
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
        except OSError:
            raise BadArgument("the path of a report", "a place that can be written to", str(target)) from None
        return target

    def _figures(self) -> str:
        """The charts, as pictures inside the page; nothing where charts are not installed."""
        try:
            from sfumato.charts.canvas import drawing

            charts = [self.plot("columns"), *([self.plot("pairs")] if self.pairs else [])]
            return "\n".join(f"<figure>{drawing(chart)}</figure>" for chart in charts)
        except MissingExtra as missing:
            return f"<p>{escaped(str(missing))}</p>"


COLUMNS_SAID = (
    "Bars are synthetic rows. Dots are noisy counts that were released; the real share is within the bar of each with "
    "95 % confidence"
)
PAIRS_SAID = (
    "The most that a pair can be off by, with 95 % confidence, from the noise alone. Grey pairs were never measured "
    "together: what hangs together there is a guess"
)


def report(
    synthetic: Synthetic,
    *,
    public: object = None,
    private: object = None,
    workload: Workload | None = None,
    target: str | None = None,
    rows: int | None = None,
    confidence: Number = "0.95",
    entropy: Entropy | None = None,
) -> SyntheticReport:
    """Reports on synthetic data; see `Synthetic.report`."""
    source = entropy or system()
    many = min(synthetic.rows if rows is None else rows, MOST_ROWS)
    made = Rows(synthetic.schema.domain, synthetic.sample_codes(max(1, many), entropy=source))
    tables = marginals_of(made.domain, workload) if workload is not None else None
    family = noise_family(synthetic.loss)
    errors = None
    if synthetic.measured:
        total = synthetic.model.total
        errors = noise_errors(synthetic.measured, made, total=total, noise=family, confidence=confidence)
    shares = released_shares(synthetic)
    compared: dict[Basis, Evaluation] = {}
    for given, basis in ((public, Basis.PUBLIC), (private, Basis.HELD)):
        if given is not None:
            seen = held_rows(synthetic.schema, given, "public" if basis is Basis.PUBLIC else "private")
            order = codes_in_order(synthetic)
            compared[basis] = evaluate(
                seen, made, ordered=order, workload=workload, target=target, basis=basis, entropy=source
            )
    return SyntheticReport(
        about=_about(synthetic),
        errors=errors,
        variety=collapse(made, shares=shares),
        good=tuple(good_for(synthetic, errors, tables)),
        bad=tuple(bad_for(synthetic, errors, tables)),
        columns=_columns(synthetic, made, shares, family),
        pairs=_pairs(made, errors),
        public=compared.get(Basis.PUBLIC),
        held=compared.get(Basis.HELD),
        basis=Basis.HELD if private is not None else Basis.FREE,
    )


def codes_in_order(synthetic: Synthetic) -> dict[str, int]:
    """How many codes of each ordered column stand in order: all but those of what is missing or not listed."""
    columns = [one for one in synthetic.schema.columns if one.ordered]
    return {one.name: one.size - one.may_miss - bool(getattr(one, "other", False)) for one in columns}


def released_shares(synthetic: Synthetic) -> dict[str, np.ndarray[tuple[int, ...], np.dtype[np.float64]]]:
    """The shares of the values of columns that were measured by themselves, the last time; noisy, not negative."""
    return {
        one.columns[0]: np.clip(one.counts, 0.0, None) / max(float(np.clip(one.counts, 0.0, None).sum()), 1.0)
        for one in synthetic.measured
        if len(one.columns) == 1 and one.queries is None
    }


def _about(synthetic: Synthetic) -> tuple[tuple[str, str], ...]:
    loss = f"{synthetic.loss} for {synthetic.unit}" + ("" if synthetic.release is not None else " [uncharged]")
    lines = [
        ("method", synthetic.method),
        ("rows", f"about {synthetic.rows:,} rows of {len(synthetic.columns)} columns"),
        ("loss", loss),
        ("columns", ", ".join(synthetic.columns)),
        ("measured", f"{len(synthetic.measured)} tables of counts, for all of the loss"),
    ]
    return (*lines, *((("how", note)) for note in synthetic.notes))


def _columns(
    synthetic: Synthetic,
    made: Rows,
    shares: Mapping[str, np.ndarray[tuple[int, ...], np.dtype[np.float64]]],
    family: Noise,
) -> tuple[Shares, ...]:
    """The values of every column in synthetic rows, beside what was released of them."""
    alone = {one.columns[0]: one for one in synthetic.measured if len(one.columns) == 1 and one.queries is None}
    drawn = []
    for column in synthetic.schema.columns:
        own = made.marginal((column.name,)) / made.total
        known, reach = None, 0.0
        if column.name in shares:
            one = alone[column.name]
            total = max(synthetic.model.total, 1.0)
            known = tuple((one.counts / total).tolist())
            reach = largest_reach(1, one.deviation, 0.05, family) / total
        drawn.append(Shares(column.name, tuple(column.labels), tuple(own.tolist()), known, reach))
    return tuple(drawn)


def _pairs(made: Rows, errors: NoiseErrors | None) -> tuple[tuple[str, str, float | None], ...]:
    """The most that each pair of columns can be off by, where it was measured, alone or within another table."""
    cells = []
    for left, right in combinations(made.domain.names, 2):
        known = None if errors is None else bound_of(errors, (left, right))
        cells.append((left, right, None if known is None else min(known.high, 1.0)))
    return tuple(cells)
