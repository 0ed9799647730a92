"""Which data sets count as neighbours, as far as accounting must know: one unit more or fewer, or one exchanged."""

from __future__ import annotations

from enum import Enum

from sfumato.plain import word


@word("relation")
class Relation(Enum):
    """The kind of neighbours that a loss speaks of; `core.metrics` holds the distances themselves."""

    ADD_REMOVE = "add/remove"
    CHANGE_ONE = "change-one"
