"""Charts inside a page: SVG that takes its colours from the page, so that one drawing serves light and dark.

The page says what the colours are, in custom properties of CSS (`INKS`); where it does not, they are those of paper.
Nothing in the drawing is a style, a script or an address, so that it stands in a page that forbids all three.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from sfumato.accounting.losses.measures import Pure
from sfumato.accounting.meaning.guidance import believed_in_hundred
from sfumato.charts.canvas import (
    AMBER,
    BLUE,
    FAINT,
    GREEN,
    INK,
    MUTED,
    ORANGE,
    PAPER,
    PURPLE,
    SKY,
    Chart,
    altair,
    drawing_of,
    finished,
    panel,
    table,
    titled,
)

INKS = {
    INK: "ink",
    MUTED: "muted",
    FAINT: "faint",
    BLUE: "blue",
    ORANGE: "orange",
    GREEN: "green",
    PURPLE: "purple",
    SKY: "sky",
    AMBER: "amber",
}
"""The colours of charts, and what they are called in a page: ``--chart-ink`` and so on."""

_COLOUR = re.compile(r'(?<=[ <])(fill|stroke)="(#[0-9a-f]{6})"')
_FONT = re.compile(r' font-family="[^"]*"')
_TAG = re.compile(r"<[^<>]*>")
_SPOKEN = re.compile(r' (?:role|aria-[a-z]+)="[^"]*"')
_SIZE = re.compile(r'<svg [^>]*?width="([0-9.]+)" height="([0-9.]+)"[^>]*>')
_BACKGROUND = re.compile(rf'(<svg [^>]*>)<rect width="[0-9.]+" height="[0-9.]+" fill="{PAPER}"/>')

ACROSS, DOT, GAP = 10, 15, 64
"""Dots in a line of an icon array, their distance, and the space between two arrays."""


def for_page(chart: Chart, *, headline: bool = False) -> str:
    """Draws a chart as SVG for the inside of a page; without its headline, where the page has said it.

    It is a picture to look at: what it shows must stand beside it in words or in a table, for those who listen.
    """
    specification = chart.to_dict()
    if not headline:
        specification.pop("title", None)
        specification["padding"] = 4
    return repainted(drawing_of(specification))


def repainted(svg: str) -> str:
    """Takes colours and letters from the page that a drawing is for, and leaves speaking to what stands beside it."""
    bare = _BACKGROUND.sub(r"\1", svg, count=1)
    return _SIZE.sub(_sized, _TAG.sub(_repainted_tag, bare), count=1)


def _repainted_tag(tag: re.Match[str]) -> str:
    return _COLOUR.sub(_named_colour, _SPOKEN.sub("", _FONT.sub("", tag.group())))


def _named_colour(part: re.Match[str]) -> str:
    attribute, colour = part.groups()
    name = INKS.get(colour)
    return part.group() if name is None else f'{attribute}="var(--chart-{name}, {colour})"'


def _sized(part: re.Match[str]) -> str:
    width, height = part.groups()
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        'aria-hidden="true" focusable="false">'
    )


def icon_array(loss: Pure, *, count: bool = False, title: str = "What an analyst comes to believe") -> Chart:
    """Draws of how many outputs in 100 an analyst believes a suspicion, if somebody takes part and if they do not.

    The numbers are those of `believed_in_hundred`, for randomized response or, with ``count``, for a noisy count.
    """
    taking, leaving = believed_in_hundred(loss, count=count)
    arrays = [
        _dots(taking, f"If you take part: {taking} of 100", "taking part"),
        _dots(leaving, f"If you do not: {leaving} of 100", "not taking part"),
    ]
    figure = altair().hconcat(*arrays, spacing=GAP)
    below = "Each dot is a possible output; the full ones lead to believing that a suspicion about you is true"
    return finished(titled(figure, title, subtitle=below))


def _dots(believed: int, headline: str, name: str) -> Any:
    alt = altair()
    rows: Sequence[dict[str, object]] = [
        {"x": place % ACROSS, "y": place // ACROSS, "believed": place < believed} for place in range(100)
    ]
    full, empty = (
        alt.Chart(table(f"{name}, {word}", [row for row in rows if row["believed"] is said]))
        for said, word in ((True, "believed"), (False, "not believed"))
    )
    x = alt.X("x:Q", axis=None, scale=alt.Scale(domain=[-0.5, ACROSS - 0.5], nice=False, zero=False))
    y = alt.Y("y:Q", axis=None, scale=alt.Scale(domain=[99 // ACROSS + 0.5, -0.5], nice=False, zero=False))
    layers = [
        full.mark_point(shape="circle", filled=True, color=BLUE, size=110, opacity=1).encode(x=x, y=y),
        empty.mark_point(shape="circle", filled=False, color=MUTED, size=90, strokeWidth=1, opacity=1).encode(x=x, y=y),
    ]
    return panel(alt.layer(*layers), headline, width=ACROSS * DOT * 1.25, height=ACROSS * DOT * 1.25)
