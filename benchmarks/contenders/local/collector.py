"""sfumato's collector: sums of all stored reports, as a tally from which estimates are made."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from contenders.local.stored import STORES, race
from sfumato.local import Collector, Frequencies


def sums(collector: Collector[Frequencies], *, bits: int) -> NDArray[np.int64]:
    """The sums that the plain queries give."""
    found = collector.tally().sums
    return found[0, 1:] if bits else found[:, 0]


def main() -> None:
    """Sums up every store."""
    for stored in STORES:
        protocol = stored.protocol
        with stored.filled() as place, Collector(protocol, place) as collector:
            race(stored, partial(sums, collector, bits=protocol.layout.bits))


main()
