"""Pictures on a terminal: two pixels a letter where there are colours, else letters that are as dark as the picture."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from sfumato.charts.tones import DARK, LIGHT
from sfumato.demo.painting import Picture

RAMP = "@%#*+=-:. "
"""Letters from the darkest to the lightest, on paper."""

BETWEEN = 2
"""Blanks between pictures that stand side by side."""


def pictures_side_by_side(console: Console, pictures: Sequence[tuple[str, Picture]], *, width: int = 76) -> Table:
    """Puts pictures with their names side by side, as large as the width allows."""
    letters = (width - BETWEEN * (len(pictures) - 1)) // len(pictures)
    shown = Table.grid(padding=(0, BETWEEN, 0, 0))
    if any(name for name, _ in pictures):
        shown.add_row(*(Text(name, style="bold") for name, _ in pictures))
    shown.add_row(*(letters_of(console, picture, width=letters) for _, picture in pictures))
    return shown


def letters_of(console: Console, picture: Picture, *, width: int) -> Text:
    """A picture in letters: a letter is about twice as high as wide."""
    rows = 2 * max(1, round(width * picture.shape[0] / picture.shape[1] / 2))
    small = shrunk(picture, rows, width)
    coloured = console.is_terminal and console.color_system is not None and console.encoding.startswith("utf")
    if coloured:
        lines = [_coloured(upper, lower) for upper, lower in zip(small[::2], small[1::2], strict=True)]
    else:
        lines = [_plain(line) for line in (small[::2] + small[1::2]) / 2]
    return Text("\n", no_wrap=True).join(lines)


def shrunk(picture: Picture, rows: int, columns: int) -> Picture:
    """Averages the pixels of a picture into fewer ones; of tones outside of 0 … 1, the nearest inside is shown."""
    return np.clip(_averages(picture.shape[0], rows) @ picture @ _averages(picture.shape[1], columns).T, 0, 1)


def _averages(many: int, few: int) -> Picture:
    """The share of each of the few that each of the many makes up."""
    edges = np.linspace(0, many, few + 1)
    starts, ends = edges[:-1, None], edges[1:, None]
    pixels = np.arange(many)[None, :]
    covered: Picture = np.clip(np.minimum(ends, pixels + 1) - np.maximum(starts, pixels), 0, None)
    covered /= covered.sum(axis=1, keepdims=True)
    return covered


def _coloured(upper: Picture, lower: Picture) -> Text:
    line = Text()
    for above, below in zip(upper.tolist(), lower.tolist(), strict=True):
        line.append("▀", style=f"{_colour(above)} on {_colour(below)}")
    return line


def _colour(tone: float) -> str:
    red, green, blue = (round(dark + tone * (light - dark)) for dark, light in zip(DARK, LIGHT, strict=True))
    return f"rgb({red},{green},{blue})"


def _plain(line: Picture) -> Text:
    places = np.minimum((line * len(RAMP)).astype(int), len(RAMP) - 1)
    return Text("".join(RAMP[place] for place in places.tolist()))
