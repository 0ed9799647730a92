"""What data is given to a training: rows in tensors, or a table of a session, of which no row is looked at here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sfumato.entropy import Entropy
from sfumato.errors import BadArgument
from sfumato.exact import integer
from sfumato.query.frame import Frame
from sfumato.train.paying import Payer
from sfumato.train.together import Together
from sfumato.train.units import Units

if TYPE_CHECKING:
    from sfumato.train.tables import TableRows


def units_of(
    data: object,
    features: Sequence[str] | None,
    label: str | None,
    people: Sequence[object] | None,
    max_rows: int,
    session: Payer | None,
    **more: Any,
) -> tuple[Units | TableRows, Payer | None]:
    """Reads the data, and who pays: of a table of a session, that session."""
    if not isinstance(data, Frame):
        if (features, label) != (None, None):
            raise BadArgument("features and label", "left out, where the data is no table of a session", "given")
        return Units(data, people=people, max_rows=max_rows, **more), session
    if people is not None or more["augment"] is not None or more["augmentations"] != 1:
        must = "left out, where the data is a table: whose its rows are, the codebook says"
        raise BadArgument("people, augment and augmentations", must, "given")
    from sfumato.train.tables import TableRows, payer_of  # which needs the extra [learn]

    return TableRows(data, features, label, integer(max_rows, "max_rows", least=1)), payer_of(data, session)


def size_of(
    units: Units | TableRows, size: int | None, together: Together | None, people: Sequence[object] | None
) -> int:
    """A public number of units: that which is stated, or how many there are."""
    if not isinstance(units, Units):
        if together is not None:
            raise BadArgument("together", "left out, where the data is a table: one process reads it", "given")
        if size is None:
            must = "given with a table: a public number of units, about as many as there are"
            raise BadArgument("size", must, None)
        return integer(size, "size", least=1)
    count = units.count if together is None else together.count(units.count, people)
    return count if size is None else integer(size, "size", least=1)


def check_entropy(session: Payer | None, entropy: Entropy | None) -> None:
    """Refuses randomness that can be replayed where a ledger pays."""
    if session is not None and entropy is not None and entropy.replayable:
        raise BadArgument("entropy", "left out, where a session pays: no ledger takes what can be replayed", "given")
