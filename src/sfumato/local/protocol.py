"""What all local protocols have in common: a recipe for devices, a loss, and sums from which all is estimated."""

from __future__ import annotations

import hashlib
import json
from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar, final

import numpy as np
from numpy.typing import NDArray

from sfumato.accounting.events import Event, Stated
from sfumato.accounting.events.hiding import Hides
from sfumato.accounting.losses.measures import Pure
from sfumato.entropy import Entropy, system
from sfumato.errors import BadArgument
from sfumato.local.device import message, tag
from sfumato.local.published import published
from sfumato.local.reports import NONE_REJECTED, Layout, Rejected, Reports, read_messages, sums_of

Estimated = TypeVar("Estimated", covariant=True)
Drawn: TypeAlias = tuple[NDArray[np.int64], NDArray[np.uint64]]
"""Cells of reports, and their bits in words."""


class LocalProtocol(Protocol[Estimated]):
    """How devices randomize one value each, and how a collector reads many reports.

    A protocol is public: it holds no value of anybody. Whatever the collector does with reports is post-processing.
    """

    if TYPE_CHECKING:  # a field or a property of each protocol; a property here would be the default of the field

        @property
        def loss(self) -> Pure:
            """What one report costs, between any two values that a person could have."""

    @property
    @abstractmethod
    def layout(self) -> Layout:
        """What a report consists of."""

    @abstractmethod
    def randomizer(self) -> dict[str, Any]:
        """What a device needs to know to draw a report: texts and whole numbers, ready for JSON."""

    def recipe(self) -> dict[str, Any]:
        """The randomizer, with a digest of what values people may have: reports on other values are of another recipe.

        This is what `sfumato.local.device` follows, and what the tag of every message is made of.
        """
        return {**self.randomizer(), "domain": _digest(self)}

    def domain(self) -> dict[str, Any] | None:
        """What values people may have, in a form of `device.DOMAINS`; None where a device must prepare its input."""
        return None

    @abstractmethod
    def input_of(self, value: Any) -> Any:
        """What the device's randomizer is given for a value; refuses what is outside the domain."""

    @abstractmethod
    def inputs_of(self, values: Any) -> Any:
        """The same for many values at once, in whatever form ``draw`` takes."""

    @abstractmethod
    def draw(self, inputs: Any, entropy: Entropy) -> Drawn:
        """Draws one report for each input: the law of the recipe, for many at once."""

    @abstractmethod
    def estimate(self, tally: Tally) -> Estimated:
        """Reads sums of reports: unbiased, with intervals."""

    @property
    def event(self) -> Event:
        """One report, as the accountant knows it."""
        return Stated(self.loss, note=f"a local report: {self.recipe()['kind']}")

    @property
    def hiding(self) -> Hides | None:
        """How well shuffled reports hide each other; None where only the loss is known."""
        return None

    @property
    def head(self) -> bytes:
        """The first bytes of every message: format and recipe."""
        same: Any = self  # frozen records, which caches can tell apart
        return _head(same)

    def publish(self) -> str:
        """What devices need, as a JSON text: format, recipe, its tag, and what values people may have."""
        same: Any = self
        return published(_recipe(same), self.domain())

    def randomize(self, value: Any, *, entropy: Entropy | None = None) -> bytes:
        """Randomizes one value, on the device: a short message of a fixed length."""
        given = self.input_of(value)
        same: Any = self
        return message(_recipe(same), given, octets=(entropy or system()).octets)

    def randomize_many(self, values: Any, *, entropy: Entropy | None = None) -> Reports:
        """Randomizes one value of each of many people; for simulations, and where a trusted party holds the values."""
        cells, bits = self.draw(self.inputs_of(values), entropy or system())
        return Reports(self.head, self.layout, cells, bits)

    def tally(self, reports: Reports | Iterable[bytes] = ()) -> Tally:
        """Sums up reports; tallies of several shards add up."""
        return Tally.empty(self.head, self.layout).add(reports)

    def aggregate(self, reports: Reports | Iterable[bytes] | Tally) -> Estimated:
        """Estimates from reports, messages, or a tally of them."""
        tally = reports if isinstance(reports, Tally) else self.tally(reports)
        if tally.head != self.head:
            raise BadArgument(
                "the reports", "of this protocol: values, loss and all parameters must be the same", "those of another"
            )
        if tally.users == 0 and tally.rejected.foreign:
            raise BadArgument(
                "the reports", "of this protocol: values, loss and all parameters must be the same", "those of another"
            )
        return self.estimate(tally)


def a_protocol(value: Any) -> LocalProtocol[Any]:
    """A local protocol, or a refusal of whatever else was given for one."""
    if LocalProtocol not in type(value).__mro__:
        raise BadArgument("protocol", "a local protocol, such as sf.local.frequencies(…) gives", value)
    protocol: LocalProtocol[Any] = value
    return protocol


@lru_cache(maxsize=256)
def _recipe(protocol: Any) -> dict[str, Any]:
    recipe: dict[str, Any] = protocol.recipe()
    return recipe


def _digest(protocol: LocalProtocol[Any]) -> str:
    """A digest of what values people may have; of lists that cannot be published, of how they are written here."""
    try:
        stated = json.dumps(protocol.domain(), sort_keys=True, ensure_ascii=True)
    except BadArgument:
        stated = repr(protocol)
    return hashlib.sha256(stated.encode()).hexdigest()[:8]


@lru_cache(maxsize=256)
def _head(protocol: Any) -> bytes:
    return tag(protocol.recipe())


@final
@dataclass(frozen=True, eq=False)
class Tally:
    """Sums of the reports of one protocol: all that an estimate needs, and nothing that names a device."""

    head: bytes
    layout: Layout
    sums: NDArray[np.int64]
    rejected: Rejected = NONE_REJECTED

    @classmethod
    def empty(cls, head: bytes, layout: Layout) -> Tally:
        """No report yet."""
        return cls(head, layout, np.zeros((layout.cells, 1 + layout.bits), dtype=np.int64))

    @property
    def users(self) -> int:
        """How many reports were counted."""
        return int(self.sums[:, 0].sum())

    def add(self, reports: Reports | Iterable[bytes]) -> Tally:
        """This tally with more reports; the old one stays as it is."""
        if isinstance(reports, Reports):
            if reports.head != self.head:
                raise BadArgument("the reports", "of the same protocol, with the same parameters", "those of another")
            return Tally(self.head, self.layout, self.sums + sums_of(reports), self.rejected)
        sums, rejected = self.sums.copy(), self.rejected
        for piece, refused in read_messages(reports, self.head, self.layout):
            sums += sums_of(piece)
            rejected += refused
        return Tally(self.head, self.layout, sums, rejected)

    def __add__(self, other: Tally) -> Tally:
        if not isinstance(other, Tally) or other.head != self.head:
            raise BadArgument("tallies that are added", "of the same protocol, with the same parameters", "two others")
        return Tally(self.head, self.layout, self.sums + other.sums, self.rejected + other.rejected)
