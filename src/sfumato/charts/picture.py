"""The picture that gave the package its name: every pixel is uncertain, the portrait is clear."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.charts.canvas import INK, Chart, altair, finished, panel, table, titled
from sfumato.entropy import Entropy, system
from sfumato.errors import BadArgument
from sfumato.exact import Number, log_up, probability, up
from sfumato.noise.bernoulli import Bernoulli

PIXEL = 3.2
"""The side of a drawn pixel."""


def flipped(
    picture: NDArray[np.bool_], *, truthful: Number = Fraction(3, 4), entropy: Entropy | None = None
) -> NDArray[np.bool_]:
    """Keeps each pixel with probability ``truthful`` and flips it otherwise: randomized response, drawn exactly."""
    truth = probability(truthful, "truthful")
    if not Fraction(1, 2) <= truth < 1:
        raise BadArgument("truthful", "at least 1/2 and less than 1", truthful)
    flips = Bernoulli(1 - truth).samples(picture.size, entropy or system())
    changed: NDArray[np.bool_] = picture ^ flips.astype(bool).reshape(picture.shape)
    return changed


def randomized_picture(
    picture: NDArray[np.bool_], *, truthful: Number = Fraction(3, 4), entropy: Entropy | None = None
) -> Chart:
    """Draws a binary picture, and beside it the same picture after randomized response on every pixel."""
    truth = probability(truthful, "truthful")
    noisy = flipped(picture, truthful=truth, entropy=entropy)
    changed = float(np.mean(noisy != picture))
    epsilon = up(log_up(truth / (1 - truth)))
    panels = [
        _pixels(picture, "original", "The original"),
        _pixels(noisy, "flipped", f"Each pixel flipped with probability {1 - truth}"),
    ]
    figure = altair().hconcat(*panels, spacing=44)
    factor = truth / (1 - truth)
    price = f"ε = ln {factor} = {epsilon:.4g} for each pixel: its colour changes the odds by × {factor} at most"
    below = f"{price}. {changed:.0%} of the pixels changed"
    return finished(titled(figure, "Every pixel is uncertain, the picture is clear", subtitle=below))


def _pixels(picture: NDArray[np.bool_], name: str, title: str) -> Any:
    alt = altair()
    height, width = picture.shape
    rows = [{"row": place, "columns": np.flatnonzero(line).tolist()} for place, line in enumerate(picture)]
    x = alt.X("column:Q", axis=None, scale=alt.Scale(domain=[-0.5, width - 0.5], nice=False))
    y = alt.Y("row:Q", axis=None, scale=alt.Scale(domain=[height - 0.5, -0.5], nice=False, zero=False))
    unfolded = alt.Chart(table(name, rows)).transform_flatten(["columns"], ["column"])
    dots = unfolded.mark_square(size=(PIXEL + 0.4) ** 2, opacity=1, color=INK)
    return panel(dots.encode(x=x, y=y), title, width=PIXEL * width, height=PIXEL * height)
