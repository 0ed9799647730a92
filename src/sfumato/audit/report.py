"""The report of an audit: one page of HTML with its charts inside, that opens anywhere and loads nothing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sfumato.audit.record import Audit, Verdict, worst
from sfumato.charts.canvas import drawing
from sfumato.errors import BadArgument, MissingExtra
from sfumato.release.render.html import escaped

COLOURS = {Verdict.TIGHT: "#009e73", Verdict.SOUND: "#009e73", Verdict.OPEN: "#c98500", Verdict.VIOLATED: "#d55e00"}

TITLE = "Claimed and measured privacy"

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ font-family: system-ui, "Segoe UI", "Liberation Sans", Arial, sans-serif; margin: 2.5rem auto; max-width: 60rem;
  padding: 0 1.5rem; line-height: 1.5; }}
h1 {{ font-size: 1.6rem; margin: 0 0 .25rem; }}
.verdict {{ display: inline-block; padding: .15rem .7rem; border-radius: 1rem; color: #fff; font-weight: 600; }}
section {{ border-top: 1px solid rgba(128, 128, 128, .35); margin-top: 2rem; padding-top: 1.25rem; }}
figure {{ margin: 1.25rem 0 0; overflow-x: auto; }}
svg {{ max-width: 100%; height: auto; background: #fff; border-radius: 4px; }}
footer {{ opacity: .7; font-size: .85rem; margin-top: 2.5rem; }}
</style>
</head>
<body>
<h1>{title}</h1>
<p><span class="verdict" style="background:{colour}">{verdict}</span> {meaning}</p>
{sections}
<footer>{footer}</footer>
</body>
</html>
"""

FOOTER = (
    "An audit can catch a mechanism; it cannot prove one. “Tight” and “sound” hold for the pairs of data sets that "
    "were looked at; “open” means that a lower bound stayed below the claim."
)


def report(audits: Sequence[Audit], *, witness: bool = False, title: str = TITLE) -> str:
    """Writes a page on one or several audits; their witnesses, which may be private, only where that is asked for."""
    if not isinstance(audits, Sequence) or not audits or not all(isinstance(audit, Audit) for audit in audits):
        raise BadArgument("audits", "a list of one audit or more", audits)
    verdict = worst(audits)
    return PAGE.format(
        title=escaped(title),
        colour=COLOURS[verdict],
        verdict=verdict,
        meaning=escaped(verdict.meaning),
        sections="\n".join(_section(audit, witness=witness) for audit in audits),
        footer=escaped(FOOTER),
    )


def save_report(audits: Sequence[Audit], path: str | Path, *, witness: bool = False, title: str = TITLE) -> Path:
    """Writes the page to a file and returns its path."""
    target = place(path)
    target.write_text(report(audits, witness=witness, title=title), encoding="utf-8")
    return target


def place(path: str | Path) -> Path:
    """Checks where a report is to be written, and that it can be; missing folders are made."""
    target = Path(path)
    if target.suffix != ".html":
        raise BadArgument("the suffix of a report's file", ".html", target.suffix)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("ab"):
            return target
    except OSError:
        raise BadArgument("the path of a report", "a place that can be written to", str(target)) from None


def _section(audit: Audit, *, witness: bool) -> str:
    return f"<section>\n{audit.to_html(witness=witness)}\n{_pictures(audit)}</section>"


def _pictures(audit: Audit) -> str:
    """Draws every curve of an audit, or its lines; nothing where charts are not installed."""
    if not audit.curves and all(line.claimed is None for line in audit.lines):
        return ""
    try:
        charts = [audit.chart(place=place) for place in range(max(1, len(audit.curves)))]
        return "".join(f"<figure>{drawing(chart)}</figure>\n" for chart in charts)
    except MissingExtra:
        return ""
