"""Which data sets count as neighbours, as far as accounting must know: a unit more or fewer, exchanged, or blanked."""

from __future__ import annotations

from enum import Enum

from sfumato.plain import word


@word("relation")
class Relation(Enum):
    """The kind of neighbours that a loss speaks of; `core.metrics` holds the distances themselves.

    Under zero-out one unit's record is blank in one of the two data sets: it is there, is counted and may be drawn, but
    adds nothing to any answer. Shifts are what the presence of a unit's values changes, as under add/remove.
    """

    ADD_REMOVE = "add/remove"
    CHANGE_ONE = "change-one"
    ZERO_OUT = "zero-out"
