"""What may keep a source of data from being read: a short list of words, the only ones that pass a permit."""

from __future__ import annotations

from enum import Enum


class Outage(Enum):
    """Names what kept a source of data from being read. These are all words there are: none is the source's own."""

    LOST = "the connection to the server of the data was lost, or the server is stopping or starting"
    DENIED = "the role of the data's server lacks a right on a table that the question reads"
    CHANGED = "a table is not what it was when it was opened: open the data again"
    BUSY = "others held a lock on a table, or a connection, for too long"
    CONFLICT = "the server replayed changes that were in the way of the question, as a standby does"
    TIME = "it took longer than it may (statement_timeout), or somebody broke it off"
    SPACE = "it took more memory or disk than the server has, or lets it have"
