"""One look for every chart: colours, letters, axes, and how a chart becomes a file.

Nothing here is global: the look travels inside each chart, so that drawing never changes how other charts of the same
process look.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from sfumato.errors import BadArgument, MissingExtra

if TYPE_CHECKING:
    from altair.typing import ChartType

Chart: TypeAlias = "ChartType"
"""Any altair chart: single, layered or side by side."""

INK, MUTED, FAINT, PAPER = "#1f2430", "#636b7a", "#e6e8ec", "#ffffff"

BLUE, ORANGE, GREEN, PURPLE, SKY, AMBER = "#0072b2", "#d55e00", "#009e73", "#b65a93", "#3d9bd1", "#c98500"
SERIES = (BLUE, ORANGE, GREEN, PURPLE, SKY, AMBER)
"""Colours that colour-blind readers tell apart, after Okabe and Ito (2008), darkened where thin lines need it."""

DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [4, 2], [10, 4])
"""A second mark of difference, for print without colour."""

FONT = "Liberation Sans, Arial, Helvetica, DejaVu Sans, sans-serif"
RAISED_FONT, RAISED = "DejaVu Sans, Arial, sans-serif", frozenset("⁰⁴⁵⁶⁷⁸⁹⁺⁻")
"""Raised figures, as in 10⁻⁶, are missing from the first font, and renderers take any other for the whole line."""

WIDTH, HEIGHT = 560, 320
LETTER, SYMBOL = 6.5, 50
"""How wide a letter of a legend is, and its symbol with the space around it; in pixels, about."""
PIXELS_PER_POINT = 2.5

SUFFIXES = (".png", ".svg", ".html", ".json")


def altair() -> Any:
    """Loads altair, or says which extra brings it."""
    try:
        import altair as loaded
    except ImportError:
        raise MissingExtra("drawing charts", "plot") from None
    return loaded


def table(name: str, rows: Iterable[Mapping[str, object]]) -> Any:
    """Holds the numbers of one layer under a name by which a reader of the chart's JSON finds them."""
    return altair().InlineData(values=[dict(row) for row in rows], name=name)


def series(names: Sequence[str], *, dashed: bool = False, key: str = "top", width: float = WIDTH) -> dict[str, Any]:
    """Encodings that tell named series apart, by colour and by dashes; ``key`` is the place of the legend."""
    alt = altair()
    shape = {"symbolType": "stroke"} if dashed else {}
    shape |= {"labelFont": RAISED_FONT} if RAISED & set("".join(names)) else {}
    legend = alt.Legend(title=None, orient=key, columns=columns_of(names, width=width), **shape)
    colours = {"range": [SERIES[place % len(SERIES)] for place in range(len(names))], "domain": list(names)}
    encodings = {"color": alt.Color("series:N", scale=alt.Scale(**colours), sort=None, legend=legend)}
    if dashed:
        # From the second round of colours on, the dashes move on by one: no two series look the same.
        dashes = [DASHES[(place + place // len(SERIES)) % len(DASHES)] for place in range(len(names))]
        encodings["strokeDash"] = alt.StrokeDash(
            "series:N", scale=alt.Scale(domain=list(names), range=dashes), sort=None, legend=legend
        )
    return encodings


def columns_of(names: Sequence[str], *, width: float = WIDTH) -> int:
    """How many entries of a legend fit on one line, so that it is about as wide as the plot, or less.

    >>> columns_of(["Laplace", "Gaussian"]), columns_of(["truncated discrete Laplace, scale 1000"] * 7)
    (2, 1)
    """
    widths = [len(name) * LETTER + SYMBOL for name in names]
    return len(names) if sum(widths) <= width else max(1, int(width / max(widths)))


def note(text: str, *, x: float, y: float, name: str, align: str = "left", aside: float = 8, colour: str = INK) -> Any:
    """Writes a few words beside a place of the plot; the place is in data units, ``aside`` in pixels."""
    alt = altair()
    offset = {"left": aside, "right": -aside, "center": 0}[align]
    marked = alt.Chart(table(name, [{"x": x, "y": y, "text": text}])).mark_text(
        align=align, dx=offset, baseline="middle", color=colour, fontSize=12, lineBreak="\n", lineHeight=16
    )
    return marked.encode(x="x:Q", y="y:Q", text="text:N")


def across(title: str, *, field: str = "x", **scale: object) -> Any:
    """The horizontal axis of a quantity; ``scale`` overrides how it is laid out."""
    alt = altair()
    axis = alt.Axis(labelOverlap=True, labelSeparation=8)
    return alt.X(f"{field}:Q", title=title, scale=alt.Scale(**{"nice": False, "padding": 6, **scale}), axis=axis)


def upward(title: str, *, field: str = "y", top: float | None = None, ticks: int = 6, **scale: object) -> Any:
    """The vertical axis of a quantity, with a little air above its ``top``."""
    alt = altair()
    domain = {} if top is None else {"domain": [0, 1.06 * top]}
    return alt.Y(
        f"{field}:Q", title=title, scale=alt.Scale(**{"nice": False, **domain, **scale}), axis=alt.Axis(tickCount=ticks)
    )


def upward_log(title: str, heights: Iterable[float], *, field: str = "y") -> Any:
    """A vertical axis in powers of ten that spans the heights."""
    alt = altair()
    seen = [math.log10(height) for height in heights if height > 0]
    low, high = min(seen) - 0.2, max(seen) + 0.3
    powers = range(math.ceil(low), math.floor(high) + 1)
    ticks = [10.0**power for power in powers[:: max(1, len(powers) // 6)]]
    words = "datum.value >= 0.001 ? format(datum.value, '~g') : format(datum.value, '.0e')"
    return alt.Y(
        f"{field}:Q",
        title=title,
        scale=alt.Scale(type="log", domain=[10.0**low, 10.0**high], nice=False),
        axis=alt.Axis(values=ticks, labelExpr=words),
    )


def titled(chart: Any, title: str, *, subtitle: str | Sequence[str] = ()) -> Any:
    """Puts a headline over a chart, and sentences below it."""
    return chart.properties(title=altair().TitleParams(text=title, **_below(subtitle)))


def panel(chart: Any, title: str, *, width: float, height: float, subtitle: str | Sequence[str] = ()) -> Any:
    """Sets the size of one part of a figure, and its own, smaller headline."""
    headline = altair().TitleParams(text=title, fontSize=14, offset=12, subtitlePadding=4, **_below(subtitle))
    return chart.properties(title=headline, width=width, height=height)


def _below(subtitle: str | Sequence[str]) -> dict[str, list[str]]:
    lines = [subtitle] if isinstance(subtitle, str) else list(subtitle)
    return {"subtitle": lines} if lines else {}


def finished(chart: Any) -> Chart:
    """Applies the look; the last step, for altair allows one look for a whole figure."""
    fonts = {"labelFont": FONT, "titleFont": FONT, "labelFontSize": 12, "titleFontWeight": "normal"}
    lines = {"gridColor": FAINT, "domainColor": MUTED, "tickColor": FAINT, "titlePadding": 10, "labelPadding": 5}
    keys = {"orient": "top", "direction": "horizontal", "columnPadding": 18, "offset": 6, "labelLimit": 360}
    symbols = {"symbolStrokeWidth": 3, "symbolSize": 180, "symbolOpacity": 1}
    headline = {"font": FONT, "fontSize": 17, "color": INK, "lineHeight": 22, "anchor": "start", "frame": "group"}
    below = {"subtitleFont": FONT, "subtitleFontSize": 12.5, "subtitleColor": MUTED, "subtitleLineHeight": 17}
    config = {
        "view": {"stroke": None},
        "axis": {**fonts, **lines, "titleFontSize": 12.5, "labelColor": MUTED, "titleColor": INK},
        "legend": {**fonts, **keys, **symbols, "titleFontSize": 12, "labelColor": INK, "titleColor": MUTED},
        "title": {**headline, **below, "subtitlePadding": 6, "offset": 16},
        "text": {"font": FONT},
        "line": {"strokeJoin": "round"},
        "concat": {"spacing": 36},
    }
    done: Chart = chart.properties(background=PAPER, padding=24).configure(**config)
    return done


def save(chart: Chart, path: str | Path) -> Path:
    """Writes a chart; the suffix says how: .png, .svg, .html (one file, works offline) or .json (Vega-Lite).

    Missing folders are made; the result is the path that was written.
    """
    target = Path(path)
    if target.suffix not in SUFFIXES:
        raise BadArgument("the suffix of a chart's file", " or ".join(SUFFIXES), target.suffix)
    specification = chart.to_dict()
    match target.suffix:
        case ".png":
            content = _converter().vegalite_to_png(specification, scale=PIXELS_PER_POINT)
        case ".svg":
            content = drawing(chart).encode()
        case ".html":
            content = _converter().vegalite_to_html(specification, bundle=True).encode()
        case _:
            content = json.dumps(specification, indent=1, ensure_ascii=False).encode()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    except OSError:
        raise BadArgument("the path of a chart", "a place that can be written to", str(target)) from None
    return target


def drawing(chart: Chart) -> str:
    """Renders a chart as SVG, to stand inside a page."""
    return drawing_of(chart.to_dict())


def drawing_of(specification: Mapping[str, Any]) -> str:
    """Renders the Vega-Lite of a chart as SVG."""
    svg: str = _converter().vegalite_to_svg(specification)
    return svg


def _converter() -> Any:
    try:
        import vl_convert
    except ImportError:
        raise MissingExtra("saving charts", "plot") from None
    return vl_convert
