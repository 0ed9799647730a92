"""Protocols for values that are reported again and again: a permanent report of each value, remembered by the device.

What such protocols hide, and what they do not, is the same for all of them and stated here. Between histories of
values that *change alike* (equal at the same times, seen through the device's public choice), all reports together,
however many, cost the loss of a permanent report for each different value. That a value changed, and when, is hidden
by the instant coins only, report by report.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from sfumato.accounting.events import Event, Repeat, Stated
from sfumato.accounting.losses.measures import Pure
from sfumato.entropy import Entropy, system
from sfumato.errors import BadArgument
from sfumato.exact import integer
from sfumato.guarantee import guarantee
from sfumato.local.protocol import Drawn, LocalProtocol
from sfumato.local.reports import Reports
from sfumato.local.stages import Again

Estimated = TypeVar("Estimated", covariant=True)


class LastingProtocol(LocalProtocol[Estimated], Protocol[Estimated]):
    """A permanent report of each value, and messages made of it; `loss` is that of one message."""

    if TYPE_CHECKING:  # fields or properties of each protocol

        @property
        def again(self) -> Again:
            """What is done to a permanent report before each message."""

        @property
        def permanent_loss(self) -> Pure:
            """The loss of a permanent report: of all messages ever, of somebody whose value never changes."""

        @property
        def most_values(self) -> int:
            """How many different permanent reports a device can come to remember at most."""

    @abstractmethod
    def permanent_recipe(self) -> dict[str, Any]:
        """How a device draws permanent reports."""

    @abstractmethod
    def draw_permanent(self, inputs: Any, entropy: Entropy) -> Drawn:
        """Draws a permanent report for each input."""

    def randomizer(self) -> dict[str, Any]:
        """The recipes of both stages."""
        layout = self.layout
        return {
            "kind": "twice",
            "cells": layout.cells,
            "bits": layout.bits,
            "permanent": self.permanent_recipe(),
            "instant": self.again.recipe(layout),
        }

    def draw(self, inputs: Any, entropy: Entropy) -> Drawn:
        """Draws both stages for each input."""
        return self.again.draw(self.draw_permanent(inputs, entropy), self.layout, entropy)

    def remember(self, values: Any, *, entropy: Entropy | None = None) -> Reports:
        """Permanent reports of many people, to make messages of (`repeat`); for simulations."""
        cells, bits = self.draw_permanent(self.inputs_of(values), entropy or system())
        return Reports(b"permanent", self.layout, cells, bits)

    def repeat(self, permanent: Reports, *, entropy: Entropy | None = None) -> Reports:
        """One message of each permanent report."""
        if permanent.head != b"permanent" or permanent.layout != self.layout:
            raise BadArgument("permanent", "what remember() of the same protocol gave", "other reports")
        cells, bits = self.again.draw((permanent.cells, permanent.bits), self.layout, entropy or system())
        return Reports(self.head, self.layout, cells, bits)

    @guarantee(
        claim="all reports ever, between histories that change alike with c different values: c permanent losses",
        proof="proofs/local_again.md#lifetime",
        reviewed="0548f001af34",
    )
    def lifetime_loss(self, *, values: int = 1) -> Pure:
        """What all reports ever cost, between histories that change alike and have so many different values.

        A history that never changes has one. That and when a value changes costs besides: see `history_loss`.
        """
        return self.permanent_loss.times(min(integer(values, "values", least=1), self.most_values))

    def lifetime_event(self, *, values: int = 1) -> Event:
        """The same, as the accountant knows it."""
        once = Stated(self.permanent_loss, note=f"a permanent local report: {self.permanent_recipe()['kind']}")
        return Repeat(once, min(integer(values, "values", least=1), self.most_values))

    @guarantee(
        claim="between any two histories: each of T messages tells two permanent reports apart by its own loss",
        proof="proofs/local_again.md#histories",
        reviewed="6f518030015f",
    )
    def history_loss(self, *, reports: int) -> Pure:
        """What so many reports cost between any two histories of values, whether or when they change."""
        between = self.again.between(self.layout)
        if between is None:
            raise BadArgument(
                "the protocol",
                "one that randomizes each message anew: equal reports of equal values show for certain when a value "
                "changed, so that no loss bounds it; state report=…, or take sf.local.tracked(…)",
                "one that sends the permanent report itself",
            )
        return between.times(integer(reports, "reports", least=0))
