"""Who was in the table that synthetic rows were made of: a sanity check, that can break a table and never clear one.

Two attackers who hold synthetic rows and the records in question. One accuses records that are near to a synthetic row
(Chen, Yu, Zhang & Fritz 2020, arXiv 1909.03935). The other makes synthetic tables of other people's records, and
accuses where there are more synthetic rows around a record than those have (after Stadler, Oprisanu & Troncoso 2022,
arXiv 2011.07018).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.accounting.meaning.attacker import Tested
from sfumato.attacks.membership import membership
from sfumato.attacks.result import Attack
from sfumato.entropy import Entropy, system
from sfumato.errors import BadArgument
from sfumato.exact import integer
from sfumato.release.progress import Progress, reporting

Codes: TypeAlias = NDArray[np.int64]

Synthesis: TypeAlias = Callable[[Codes, Entropy], ArrayLike]
"""Makes synthetic rows of real ones, as whole numbers in both: a fit and a sample of it."""

CANNOT_CLEAR = (
    "Success shows that these rows tell who was in the data. Failure shows only that this attack failed: another may "
    "not. What nobody can beat is the loss that was paid."
)

BLOCK = 1 << 24
"""So many comparisons are made at a time."""


def nearest_synthetic(
    synthetic: ArrayLike,
    members: ArrayLike,
    outsiders: ArrayLike,
    *,
    loss: Tested | None = None,
    against: str | None = None,
) -> Attack:
    """Accuses records that differ from the nearest synthetic row in few columns.

    Takes:      synthetic rows, records that were in the real table and others that were not, all as whole numbers
                (codes) with the same columns
    Gives:      an `Attack` as `membership` has it, which learns its threshold from every second record, and says that
                a failure clears nothing

    >>> rows = [[0, 1], [2, 3], [4, 5], [6, 7]]
    >>> nearest_synthetic(rows, rows, [[1, 1], [3, 3], [5, 5], [7, 7]]).success
    Success(hits=4, trials=4)
    """
    rows, inside, outside = _read(synthetic, members, outsiders)
    name = "membership by the nearest synthetic row"
    attack = membership(-_nearest(inside, rows), -_nearest(outside, rows), loss=loss, against=against, name=name)
    return replace(attack, caveat=CANNOT_CLEAR)


def shadow_synthesis(
    synthesis: Synthesis,
    members: ArrayLike,
    outsiders: ArrayLike,
    *,
    auxiliary: ArrayLike,
    shadows: int = 16,
    loss: Tested | None = None,
    against: str | None = None,
    entropy: Entropy | None = None,
    progress: Progress | None = None,
) -> Attack:
    """Makes a synthetic table of members, and accuses records with more of its rows around them than others have.

    Takes:      ``synthesis``, the recipe, which the attacker knows; ``auxiliary``, records of other people, of which
                the attacker makes so many ``shadows``: synthetic tables of as many rows
    Gives:      an `Attack`; each record's score is how far the density of synthetic rows around it is above that of
                shadows, in units of their spread. It says that a failure clears nothing
    """
    inside, outside, known = _read(members, outsiders, auxiliary)
    source, count = entropy or system(), integer(shadows, "shadows", least=4)
    questioned = np.concatenate([inside, outside])
    target = _density(questioned, _made(synthesis, inside, source))
    seen = np.zeros((count, len(questioned)))
    with reporting(progress, "making shadow tables") as tell:
        for place in range(count):
            order = np.argsort(source.words(len(known)))
            seen[place] = _density(questioned, _made(synthesis, known[order[: len(inside)]], source))
            tell(place + 1, count)
    spread = np.sqrt(seen.var(axis=0, ddof=1) + 1e-12)
    scores = (target - seen.mean(axis=0)) / spread
    many, name = len(inside), "membership by shadow synthesis"
    attack = membership(scores[:many], scores[many:], loss=loss, against=against, name=name)
    return replace(attack, caveat=CANNOT_CLEAR)


def _read(*tables: ArrayLike) -> tuple[Codes, ...]:
    """Tables of whole numbers with the same columns."""
    read = []
    for table in tables:
        values = np.asarray(table)
        if values.ndim != 2 or values.dtype.kind not in "iub" or not len(values):
            raise BadArgument("tables", "rows of whole numbers, a column for each of the schema", values.shape)
        read.append(values.astype(np.int64))
    if len({each.shape[1] for each in read}) > 1:
        raise BadArgument("tables", "of the same columns", [each.shape[1] for each in read])
    return tuple(read)


def _made(synthesis: Synthesis, rows: Codes, entropy: Entropy) -> Codes:
    (made,) = _read(synthesis(rows, entropy))
    return made


def _differing(records: Codes, rows: Codes, reduce: Callable[[NDArray[Any]], NDArray[Any]]) -> NDArray[np.float64]:
    """Something of the numbers of columns in which each record differs from all rows."""
    step = max(1, BLOCK // max(1, len(rows)))
    parts = []
    for start in range(0, len(records), step):
        block = records[start : start + step]
        apart = np.zeros((len(block), len(rows)), dtype=np.uint16)
        for place in range(block.shape[1]):
            apart += block[:, place, None] != rows[None, :, place]
        parts.append(reduce(apart))
    return np.concatenate(parts).astype(np.float64)


def _nearest(records: Codes, rows: Codes) -> NDArray[np.float64]:
    return _differing(records, np.unique(rows, axis=0), lambda apart: apart.min(axis=1))


def _density(records: Codes, rows: Codes) -> NDArray[np.float64]:
    """How many rows are around each record, one in eight for every column that differs; the logarithm of the share."""
    near = _differing(records, rows, lambda apart: np.exp2(-3.0 * apart).mean(axis=1))
    return np.asarray(np.log(near))
