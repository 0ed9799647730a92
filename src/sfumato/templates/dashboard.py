"""Dashboards: the same few questions, looked at by many, paid once for each version of the data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import final

from sfumato.accounting.losses.measures import Loss
from sfumato.errors import BadArgument
from sfumato.exact import Number
from sfumato.release.answer import Answer
from sfumato.templates.template import NO_BOUNDS, Asked, Template, shared


@final
@dataclass(frozen=True)
class Dashboard(Template):
    """Tiles by name, each a question in SQL; they share a loss by weights.

    Under a limit that renews (`period="month"`) and with data that has a version, a dashboard is paid once a month
    however often it is looked at: the same question is the same release.
    """

    name: str
    tiles: Mapping[str, str]
    weights: Mapping[str, Number] | None = None
    bounds: Mapping[str, int] = field(default_factory=lambda: NO_BOUNDS)

    def __post_init__(self) -> None:
        if not self.tiles or not all(isinstance(text, str) for text in self.tiles.values()):
            raise BadArgument("tiles", "one question in SQL or more, by the name of the tile", self.tiles)

    @property
    def title(self) -> str:
        """What the product is, on one line."""
        return self.name

    def questions(self, loss: Loss) -> tuple[Asked, ...]:
        """The questions of the tiles."""
        losses = shared(loss, tuple(self.tiles), self.weights)
        return tuple(Asked(name, text, losses[name], None, self.bounds) for name, text in self.tiles.items())

    def tables(self, answers: Mapping[str, Answer]) -> Mapping[str, Answer]:
        """The answers as they are."""
        return dict(answers)
