"""The portrait under local noise, in numbers: what each pixel reports, and what many reports show. Nothing here prints.

Every pixel is a person whose value is a shade of grey. A device rounds it at random to one of a few shades, so that it
is right on average, and reports that by randomized response. Few shades are coarse, many are rarely told: how many to
take follows from ε alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import final

import numpy as np
from numpy.typing import NDArray

from sfumato.accounting.losses.measures import Pure
from sfumato.demo.mona_lisa_strokes import STROKES
from sfumato.demo.painting import WIDE, Picture, paint, smoked
from sfumato.entropy import Entropy, system
from sfumato.local.response import Response
from sfumato.local.values import Values
from sfumato.noise.uniform import below_many

ROWS, COLUMNS = 216, 150
WHITE = 255
"""Tones are whole numbers from 0, black, to this."""

SKY = (0.70, 0.84)
"""The tones of the ground, above and below."""

LOSSES = tuple(Pure(epsilon) for epsilon in ("0.1", "0.5", "1", "2", "4", "8"))
CROWD = 100
"""How many people stand behind each pixel of the second picture."""

MOST_SHADES = 64
EVERY = np.arange(WHITE + 1)


def mona_lisa(rows: int = ROWS, columns: int = COLUMNS) -> NDArray[np.int64]:
    """Paints the portrait: tones from 0 to `WHITE`."""
    ground = np.repeat(np.linspace(*SKY, rows)[:, None], columns, axis=1)
    return np.rint(paint(ground, STROKES) * WHITE).astype(np.int64)


@final
@dataclass(frozen=True)
class Shades:
    """How one tone is reported: rounded to one of so many shades, and told by randomized response."""

    protocol: Response

    @property
    def count(self) -> int:
        """How many shades there are, black and white among them."""
        return len(self.protocol.values)

    @cached_property
    def told(self) -> float:
        """The chance by which the true shade is likelier than each other: how much of a report is the truth."""
        return float(self.protocol.supports_truth - self.protocol.supports_other)

    def reports(self, tones: NDArray[np.int64], *, entropy: Entropy | None = None) -> NDArray[np.int64]:
        """Draws a report for each tone: rounding and response by exact chances."""
        source = entropy or system()
        steps = tones.ravel() * (self.count - 1)
        rounded = steps // WHITE + (below_many(WHITE, count=steps.size, entropy=source) < steps % WHITE)
        cells, _ = self.protocol.draw(rounded, source)
        return cells.reshape(tones.shape)

    def shown(self, reports: NDArray[np.int64]) -> Picture:
        """The shades that were reported, from 0 to 1: a picture as it arrives."""
        return reports / (self.count - 1)

    def estimated(self, reports: Picture | NDArray[np.int64]) -> Picture:
        """The tones that reports, or their means, speak for: right on average, and perhaps outside of 0 to 1."""
        middle = (self.count - 1) / 2
        return ((reports - middle) / self.told + middle) / (self.count - 1)

    def error(self, tones: NDArray[np.int64]) -> float:
        """The error of one report to expect (root of the mean square), as a mean over tones."""
        return math.sqrt(float(self._variance(tones).mean()))

    def _variance(self, tones: NDArray[np.int64]) -> Picture:
        steps = tones * (self.count - 1) / WHITE
        middle, size = (self.count - 1) / 2, self.count
        within = (steps - np.floor(steps)) * (np.ceil(steps) - steps)
        spread = (size * size - 1) / 12
        around = self.told * (within + (steps - middle) ** 2) + (1 - self.told) * spread
        variance: Picture = (around / self.told**2 - (steps - middle) ** 2) / (self.count - 1) ** 2
        return variance


@lru_cache(maxsize=64)
def shades_for(loss: Pure) -> Shades:
    """The number of shades with the least error over all tones, for a loss.

    >>> [shades_for(Pure(epsilon)).count for epsilon in (1, 8)]
    [3, 19]
    """
    tried = [Shades(Response(Values(range(count)), loss)) for count in range(2, MOST_SHADES + 1)]
    return min(tried, key=lambda shades: shades.error(EVERY))


@final
@dataclass(frozen=True)
class Portrayed:
    """One picture under a loss: as it arrived, the same softened, and as a crowd behind each pixel shows it.

    Errors are roots of mean squares, as shares of the way from black to white.
    """

    loss: Pure
    shades: Shades
    arrived: Picture
    softened: Picture
    crowd: Picture
    errors: tuple[float, float, float]

    @property
    def factor(self) -> float:
        """By how much one report can change the odds between two tones of a pixel, at most."""
        return math.exp(float(self.loss.epsilon))

    @property
    def mistaken(self) -> Fraction:
        """The chance that a black pixel does not report black."""
        return 1 - self.shades.protocol.supports_truth


def portray(
    tones: NDArray[np.int64],
    *,
    losses: Sequence[Pure] = LOSSES,
    people: int = CROWD,
    entropy: Entropy | None = None,
) -> tuple[Portrayed, ...]:
    """Lets each pixel report, alone and with a crowd, once for every loss."""
    return tuple(_portrayed(tones, loss, people=people, entropy=entropy or system()) for loss in losses)


def _portrayed(tones: NDArray[np.int64], loss: Pure, *, people: int, entropy: Entropy) -> Portrayed:
    shades, truth = shades_for(loss), tones / WHITE
    doubt = shades.error(EVERY)  # from public facts: the tones of nobody
    single = shades.reports(tones, entropy=entropy)
    softened = _soften(shades.estimated(single), doubt)
    total = np.zeros(tones.shape, dtype=np.int64)
    for _ in range(people):
        total += shades.reports(tones, entropy=entropy)
    crowd = _soften(shades.estimated(total / people), doubt / math.sqrt(people))
    pictures = (shades.estimated(single), softened, crowd)
    errors = [math.sqrt(float(np.mean((picture - truth) ** 2))) for picture in pictures]
    return Portrayed(loss, shades, shades.shown(single), softened, crowd, (errors[0], errors[1], errors[2]))


def _soften(estimated: Picture, error: float) -> Picture:
    """Averages each pixel with those around it, the wider the more its error, and cuts what is no tone.

    It looks at reports alone, and at what is public: it costs nothing.
    """
    pixels = SOFTER * error ** (2 / 3)
    if pixels < 0.3:
        return np.clip(estimated, 0, 1)
    return np.clip(smoked(estimated, pixels * WIDE / estimated.shape[1]), 0, 1)


SOFTER = 4.5
"""The reach of the average, in pixels, at an error of 1: noise falls as its square, and the error of edges rises."""
