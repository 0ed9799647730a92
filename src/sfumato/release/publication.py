"""The gate before publication: what must be said with a release that can never be called back."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from sfumato.errors import BadArgument
from sfumato.release.answer import Answer
from sfumato.release.record import Release
from sfumato.release.table import ReleaseTable, Row, exceeds

NONE = ("", "None")


def missing_for_publication(table: ReleaseTable, releases: Sequence[Release]) -> list[str]:
    """Says in words what is missing before the releases of a table may be published; an empty list where nothing is.

    Asked for are the total loss, the mechanisms, the documentation of the method, the unit of privacy, the period for
    which the guarantee holds, the libraries used and the error due to noise; and that noise was really random.
    """
    if not isinstance(table, ReleaseTable) or not table.rows:
        raise BadArgument("table", "a release table, such as sf.release.ReleaseTable.of(releases, …)", table)
    published = tuple(releases)
    if not published or not all(isinstance(release, Release) for release in published):
        raise BadArgument("releases", "the releases of the table, one or more", releases)
    about_table = [fault for row in table.rows for fault in _faults_of_row(row)]
    about_each = [fault for name, why, holds in CHECKS for fault in _faults_of_releases(published, name, why, holds)]
    return about_table + _faults_of_total(table.rows, published) + about_each


def _faults_of_row(row: Row) -> list[str]:
    faults = []
    if row.epsilon == math.inf or row.delta >= 1:
        faults.append(
            f"total loss: {row.loss} promises nothing; without a finite ε and a δ below 1 nobody is protected."
        )
    if row.unit in NONE:
        faults.append("unit of privacy: nobody is named; an ε means nothing without who is protected by it.")
    if row.mechanism in NONE:
        faults.append("mechanisms: none is named; readers cannot check a loss of unknown origin.")
    if row.implementation in NONE:
        faults.append("libraries used: none is named; a flaw in one could not be traced to this release.")
    if not row.period.strip():
        faults.append(
            "period: the time for which the guarantee holds is not stated; people who are in the data of several "
            "periods lose more, and must be able to work out how much. Pass period=… to the table."
        )
    return faults


def _faults_of_total(rows: Sequence[Row], releases: Sequence[Release]) -> list[str]:
    """Says which releases cost more than every total that they can be part of."""
    faults = []
    for place, release in enumerate(releases, start=1):
        totals = [row.native for row in rows]
        if totals and all(exceeds(release.loss, total) for total in totals):
            stated = "; ".join(map(str, totals))
            faults.append(f"total loss: {stated} is less than that of release {place}, {release.loss}.")
    return faults


def _states_each_error(value: object) -> bool:
    """Tells whether a value is an answer with an interval for each of its noisy numbers."""
    return isinstance(value, Answer) and all(column.low is not None for column in value.values)


Check = tuple[str, str, Callable[[Release], bool]]

CHECKS: tuple[Check, ...] = (
    ("total loss", "was charged to no ledger, so that no book vouches for the total", lambda release: release.charged),
    (
        "noise",
        "was made with a seed, and whoever knows the seed can take the noise off: it is not private",
        lambda release: not release.replayable,
    ),
    (
        "method documentation",
        "names no page with a proof, so that readers cannot check the method",
        lambda release: bool(release.how.proofs),
    ),
    (
        "question",
        "does not say what was asked, so that readers cannot tell what its numbers are about. Ask it again",
        lambda release: bool(release.how.asked) or not isinstance(release.value, Answer),
    ),
    (
        "error bounds",
        "does not state its error due to noise; readers would take noise for a finding. Post-processing drops error "
        "bars: publish the value before it too, or work out an interval",
        lambda release: release.half_width is not None or _states_each_error(release.value),
    ),
)
"""What every release must have: the name of the matter, why it is a fault to lack it, and whether a release has it."""


def _faults_of_releases(
    releases: Sequence[Release], name: str, why: str, holds: Callable[[Release], bool]
) -> list[str]:
    places = [place for place, release in enumerate(releases, start=1) if not holds(release)]
    if not places:
        return []
    which = ", ".join(map(str, places[:8])) + (f", … {len(places)} in all" if len(places) > 8 else "")
    return [f"{name}: release {which} {why}."]
