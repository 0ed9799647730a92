"""Tells the story of the portrait: what each pixel reports, and what the crowd shows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from sfumato.demo.console import code, headline, print_paths, say, show
from sfumato.demo.mona_lisa import CROWD, WHITE, Portrayed, mona_lisa, portray
from sfumato.demo.terminal_pictures import pictures_side_by_side
from sfumato.errors import BadArgument, MissingExtra

SHOWN = 2
"""Which of the losses is shown on the terminal, by its place: ε = 1."""

DEVICE = """\
pixel = sf.local.frequencies(
    ["black", "grey", "white"], loss=sf.Pure(1), users=32_400,
    method="response",
)
report = pixel.randomize("grey")   # on the device: a few bytes"""


def tell(console: Console, *, output: Path) -> None:
    """Prints the story and draws the figure into a folder."""
    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError:
        raise BadArgument("the output folder", "one that can be written to", str(output)) from None
    tones = mona_lisa()
    tell_portrait(console, tones)
    portraits = portray(tones)
    tell_reports(console, portraits)
    tell_crowd(console, portraits)
    draw(console, tones, portraits, output=output)


def tell_portrait(console: Console, tones: NDArray[np.int64]) -> None:
    """Shows the portrait, and says who the pixels are."""
    headline(console, "1", "A portrait of many people")
    show(console, pictures_side_by_side(console, [("", tones / WHITE)], width=34))
    say(
        console,
        f"[b]{tones.size:,}[/b] pixels: think of each as a person, and of its tone, from black to white, as what that "
        "person would rather not tell. Nobody collects the tones. Each person's own device adds the noise, before "
        "anything leaves it, so that nobody has to be trusted.",
    )


def tell_reports(console: Console, portraits: Sequence[Portrayed]) -> None:
    """Says what one report tells, and what it hides."""
    headline(console, "2", "What one pixel reports")
    show(console, code(DEVICE))
    say(
        console,
        "A device rounds its tone to one of a few shades, and then tells that shade or, by chance, another one. The "
        "smaller ε, the fewer shades are worth telling apart. A report changes the odds between any two tones by the "
        "factor e^ε at most, whatever one knew before:",
    )
    shown = _columns("ε", "odds up to", "shades", "black says another")
    for each in portraits:
        factor = f"× {each.factor:,.0f}" if each.factor >= 100 else f"× {each.factor:.3g}"
        shown.add_row(_epsilon(each), factor, f"{each.shades.count}", f"{float(each.mistaken):.2%}")
    show(console, shown)
    one = portraits[SHOWN]
    say(
        console,
        f"At ε = {_epsilon(one)}, of 100 black pixels about {100 * float(one.mistaken):.0f} do not say black. Point at "
        "any pixel of the noise: it can say that it was the coin, and nobody can prove otherwise.",
    )


def tell_crowd(console: Console, portraits: Sequence[Portrayed]) -> None:
    """Shows what arrives, and what is seen in it."""
    headline(console, "3", "What the crowd shows")
    one = portraits[SHOWN]
    names = ("as it arrives", one.arrived), ("softened", one.softened), (f"{CROWD} people a pixel", one.crowd)
    say(
        console,
        f"The reports at ε = {_epsilon(one)}. From left to right, with nothing more told by anybody on the left:",
    )
    show(console, pictures_side_by_side(console, names, width=min(72, console.width - 8)))
    say(
        console,
        "Softened: each pixel is averaged with its neighbours, which costs nothing, for it looks at reports alone. The "
        f"third picture is of {CROWD} people behind each pixel, each with a report of its own. Errors, from black to "
        "white, as the root of the mean square:",
    )
    shown = _columns("ε", "one report", "softened", f"{CROWD} people a pixel")
    for each in portraits:
        shown.add_row(_epsilon(each), *(f"± {_share(error)}" for error in each.errors))
    show(console, shown)
    say(
        console,
        "One report is off by more than all there is between black and white, until ε is about 1. Averages are not: "
        "noise shrinks with the root of the number of people. [b]Half the ε takes about four times the people[/b]: "
        "that is what local privacy costs, and why it needs a crowd.",
    )


def draw(console: Console, tones: NDArray[np.int64], portraits: Sequence[Portrayed], *, output: Path) -> None:
    """Draws all pictures into one figure; says what to install where that is not possible."""
    headline(console, "4", "Drawn")
    try:
        print_paths(console, [draw_figure(tones, portraits, output=output)])
    except MissingExtra as missing:
        say(console, f"No charts: {missing}".replace("[", r"\["))


def draw_figure(tones: NDArray[np.int64], portraits: Sequence[Portrayed], *, output: Path) -> Path:
    """Writes the figure into a folder and returns its path."""
    from sfumato.charts import save
    from sfumato.charts.tones import Captioned, tone_gallery

    rows = [
        ("One report of each pixel, as it arrives", [Captioned(each.arrived) for each in portraits]),
        ("The same reports, softened", [Captioned(each.softened, f"± {_share(each.errors[1])}") for each in portraits]),
        (
            f"{CROWD} people behind each pixel, softened",
            [Captioned(each.crowd, f"± {_share(each.errors[2])}") for each in portraits],
        ),
    ]
    said = (
        f"Each of {tones.size:,} pixels is a person, whose device reports one shade by randomized response. "
        "± is the error that is left, from black to white"
    )
    figure = tone_gallery(
        Captioned(tones / WHITE, "The portrait, which nobody collects"),
        rows,
        heads=[f"ε = {_epsilon(each)}" for each in portraits],
        title="Every pixel is uncertain, the picture is clear",
        subtitle=[said],
    )
    return save(figure, output / "mona-lisa.png")


def _columns(*names: str) -> Table:
    shown = Table(box=None, pad_edge=False, padding=(0, 2), header_style="bold")
    for name in names:
        shown.add_column(name, justify="right")
    return shown


def _epsilon(each: Portrayed) -> str:
    return f"{float(each.loss.epsilon):g}"


def _share(error: float) -> str:
    return f"{error:,.0%}" if error >= 0.1 else f"{error:.1%}"
