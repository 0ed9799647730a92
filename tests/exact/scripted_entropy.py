"""Entropy that begins with chosen bytes, to force a sampler into its rare paths."""

from __future__ import annotations

from typing import final

from sfumato.entropy import Entropy, ReplayEntropy


@final
class ScriptedEntropy(Entropy):
    """Gives the scripted bytes first and replayable ones afterwards."""

    def __init__(self, script: bytes) -> None:
        self._script, self._rest, self._drawn = script, ReplayEntropy(0), 0

    @property
    def replayable(self) -> bool:
        return True

    @property
    def drawn(self) -> int:
        return self._drawn

    @property
    def left(self) -> int:
        return len(self._script)

    def octets(self, count: int) -> bytes:
        self._drawn += count
        given, self._script = self._script[:count], self._script[count:]
        return given + self._rest.octets(count - len(given))


def words(*values: int) -> bytes:
    return b"".join(value.to_bytes(8, "little") for value in values)


def halves(*values: int) -> bytes:
    return b"".join(value.to_bytes(2, "little") for value in values)
