"""Who is in the data: which rows belong to whom, for a register that keeps a limit for each of them."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from sfumato.accounting.adaptive.charge import in_kind
from sfumato.accounting.losses.measures import Loss
from sfumato.core.domains import Data
from sfumato.core.measurement import Measurement
from sfumato.core.metrics import AddRemove
from sfumato.core.space import Space
from sfumato.entropy import Entropy
from sfumato.errors import BadArgument
from sfumato.guarantee import guarantee
from sfumato.ledger.permit import Permit
from sfumato.ledger.register.names import distinct
from sfumato.ledger.register.register import Register
from sfumato.transforms.owners import first_rows


@final
@dataclass(frozen=True, repr=False)
class Members:
    """A register, and to whom each row belongs: ids row by row, or the name of the column that holds them.

    Units that have nothing left in the register take no part in a release; nobody can see that from outside. Where a
    column is named, its ids are used for this alone.
    """

    register: Register
    ids: Data

    def __post_init__(self) -> None:
        object.__setattr__(self, "ids", copy.deepcopy(self.ids))  # what is done to the original changes nothing

    @property
    def identity(self) -> str:
        """Tells one register from another."""
        return self.register.identity

    def cost(self, loss: Loss) -> Loss:
        """What a release costs each unit, in the kind that the register counts."""
        return in_kind(loss, type(self.register.limit))

    def __repr__(self) -> str:
        return "Members(…)"

    def check(self, data: Data, space: Space) -> None:
        """Refuses data from which units cannot be left out without anyone's noticing."""
        known = getattr(space.domain, "size", None) is not None or getattr(space.domain, "least", 0) > 0
        if known or not isinstance(space.metric, AddRemove):
            must = (
                "for data whose units are added and removed and whose size is not public: units will be left out of it"
            )
            raise BadArgument("members", must, str(space))
        if isinstance(self.ids, str) and not isinstance(data, Mapping):
            raise BadArgument("members", "ids row by row, where the data has no columns", "the name of a column")
        if len(self._names(data)) != _length(data):
            raise BadArgument("members", "one id for each row", "another number of ids")

    def admitted(self, measurement: Measurement, permit: Permit, rows: int) -> Measurement:
        """Builds a measurement that runs on the rows of those units only that have enough left, and have paid.

        They pay when it runs: after the charge, and before anything else looks at their rows. Of a unit that has more
        rows than the unit of privacy allows for, the first ``rows`` are used.
        """
        cost = self.cost(permit.loss)
        name = f"{permit.receipt.account} entry {permit.receipt.entry}"

        def run(data: Data, entropy: Entropy) -> Data:
            ids = self._names(data)
            kept = self.register.admit(ids, cost, release=name) & first_rows(distinct(ids).place, rows)
            return measurement.function(rows_of(data, kept), entropy)

        steps = (f"at most {rows} rows of each unit that has enough left",)
        how = measurement.how.after(steps, (), ("proofs/register.md#individual",))
        return replace(measurement, function=run, law=None, how=how)

    def _names(self, data: Data) -> Data:
        return data[self.ids] if isinstance(self.ids, str) else self.ids


@guarantee(
    claim="the rows of admitted units, all of them and no others, in every column alike",
    proof="proofs/register.md#individual",
    reviewed="c99a451f3c0c",
)
def rows_of(data: Data, kept: NDArray[np.bool_]) -> Data:
    """The rows that a register admits, in every column alike."""
    if isinstance(data, Mapping):
        return {name: rows_of(column, kept) for name, column in data.items()}
    if isinstance(data, list | tuple):
        return type(data)(row for row, keep in zip(data, kept, strict=True) if keep)
    chosen: Any = data[kept]
    return chosen


def _length(data: Data) -> int:
    return len(next(iter(data.values()))) if isinstance(data, Mapping) else len(data)
