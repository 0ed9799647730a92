"""The vault: private data in the cells of a few closures, so that no object that anybody can hold has it.

What leads to the data is not an attribute under any name: not in ``vars``, not copied, not pickled, not printed, and
not in the ``__closure__`` of a function. It is handed to one thing, a measurement that a permit runs; and the permit
must be one that a ledger gave which the holder of the data let in. Code that goes through the garbage collector or the
frames of a running question is beside the data already, and is stopped by another process only.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, final
from weakref import WeakSet

from sfumato.accounting.losses.measures import Loss
from sfumato.core.domains import Data, Tables
from sfumato.core.measurement import Measurement
from sfumato.core.metrics import Unit
from sfumato.core.sealed import sealed
from sfumato.errors import BadArgument
from sfumato.exact import Number
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.permit import Permit
from sfumato.ledger.progress import RunPermit, Step
from sfumato.ledger.versions import Fingerprint, Identity, check_data, keep_data, key_of
from sfumato.query.plan.open_tables import OpenTables, Unlocked
from sfumato.release.record import Fact, Release
from sfumato.session.fingerprint import version_of
from sfumato.session.members import Members

if TYPE_CHECKING:
    from sfumato.codebook.book import Codebook


@final
@dataclass(frozen=True)
class Asking:
    """What is told to a permit besides the data: all of it public."""

    unit: Unit
    confidence: Number | Fraction
    facts: tuple[Fact, ...]
    name: str
    rows: int
    units: Mapping[str, Unit]


@final
@dataclass(frozen=True, eq=False, repr=False)
class Vault:
    """What sessions can do with locked data.

    ``run`` gives the release that a permit pays for; ``tables`` puts columns in memory behind an engine, and gives its
    public half. Both give the error that they end with, and do not raise it: the frames of its traceback would hold the
    data. ``step`` gives what the next step of a run gives, in a list of one, or the error. ``charges`` checks that a
    register of members can count a loss, where there is one. ``register`` tells one register of members from another.
    """

    run: Callable[[Permit, Measurement, Asking], Release | BaseException]
    step: Callable[[RunPermit, Step], list[Data] | BaseException]
    charges: Callable[[Loss], bool]
    tables: Callable[[Codebook], OpenTables | BaseException]
    register: str = ""


@final
@dataclass(frozen=True, eq=False, repr=False)
class Holding:
    """What only the holder of the data can do: let a ledger in, so that its permits are good for it from then on.

    ``check`` and ``keep`` compare keyed digests with those that a ledger keeps, and give nothing; ``keep`` lets it in.
    """

    check: Callable[[Ledger, Identity], None]
    keep: Callable[[Ledger, Identity, str], None]


def locked_tables(held: Unlocked) -> tuple[Vault, Holding]:
    """Locks tables behind an engine."""
    ledgers: WeakSet[Ledger] = WeakSet()

    def run(permit: Permit, measurement: Measurement, asking: Asking) -> Release | BaseException:
        return _run(ledgers, permit, measurement, held, asking)

    def step(permit: RunPermit, function: Step) -> list[Data] | BaseException:
        return _step(ledgers, permit, function, held)

    def fingerprint(key: bytes) -> Fingerprint:
        prints, places = held.engine.fingerprints(key), held.engine.places(key)
        private = [name for name, scan in held.catalog.tables.items() if scan.private]
        parts = (one[name] for one in (prints, places) for name in private if name in one)
        return Fingerprint(_joined(sorted(map(" ".join, prints.items()))), tuple(parts))

    def tables(_: Codebook) -> BaseException:
        return BadArgument("the data set", "one in memory", "tables behind an engine")

    return Vault(sealed(run), sealed(step), lambda _: False, tables), _held(fingerprint, ledgers)


def locked_values(data: Data, members: Members | None) -> tuple[Vault, Holding]:
    """Locks data that is held in memory, with the ids that say to whom each row belongs."""
    ledgers: WeakSet[Ledger] = WeakSet()
    behind: list[Unlocked] = []

    def run(permit: Permit, measurement: Measurement, asking: Asking) -> Release | BaseException:
        if isinstance(measurement.source.domain, Tables):
            return _run(ledgers, permit, measurement, behind[-1], asking)
        return _run(ledgers, permit, measurement, data, asking, members)

    def step(permit: RunPermit, function: Step) -> list[Data] | BaseException:
        if members is not None:
            return BadArgument("a run", "on data without members: a register has no theorem for it", "one with them")
        return _step(ledgers, permit, function, data)

    def charges(loss: Loss) -> bool:
        if members is not None:
            members.cost(loss)
        return members is not None

    def fingerprint(key: bytes) -> Fingerprint:
        try:
            own = version_of(data, key)
            ids = () if members is None else (version_of(members.ids, key), members.identity)
        except BadArgument:  # a kind of data for which there is no digest
            return Fingerprint()
        return Fingerprint(_joined([own, *ids]), (own,))

    def tables(codebook: Codebook) -> OpenTables | BaseException:
        from sfumato.session.open_data import open_tables

        try:
            opened, held = open_tables({codebook.table().name: data}, codebook, rows_only=True)
        except BaseException as fault:
            return _bare(fault)
        behind.append(held)
        return opened

    register = "" if members is None else members.identity
    return Vault(sealed(run), sealed(step), sealed(charges), sealed(tables), register), _held(fingerprint, ledgers)


def _run(
    ledgers: WeakSet[Ledger],
    permit: Permit,
    measurement: Measurement,
    data: Data,
    asking: Asking,
    members: Members | None = None,
) -> Release | BaseException:
    """Hands data to a permit, and to nothing else; whatever ends it comes back without the frames that saw the data."""
    if type(permit) is not Permit or not any(ledger.gave(permit) for ledger in ledgers):
        return BadArgument("permit", "one for a charge in a ledger that the holder of the data let in", permit)
    try:
        asked = measurement if members is None else members.admitted(measurement, permit, asking.rows)
        return permit.run(
            asked,
            data,
            d_in=asking.unit,
            confidence=asking.confidence,
            facts=asking.facts,
            name=asking.name,
            units=asking.units,
        )
    except BaseException as fault:
        return _bare(fault)


def _step(ledgers: WeakSet[Ledger], permit: RunPermit, function: Step, data: Data) -> list[Data] | BaseException:
    """Hands data to the next step of a run; see `_run`."""
    if type(permit) is not RunPermit or not any(ledger.gave(permit) for ledger in ledgers):
        return BadArgument("a run", "one that was charged in a ledger that the holder of the data let in", permit)
    try:
        return [permit.step(function, data)]
    except BaseException as fault:
        return _bare(fault)


def _bare(fault: BaseException) -> BaseException:
    """Takes off an error the frames that saw the data, and the errors that it came of."""
    fault.__traceback__ = fault.__context__ = fault.__cause__ = None
    return fault


def _held(fingerprint: Callable[[bytes], Fingerprint], ledgers: WeakSet[Ledger]) -> Holding:
    """Makes what compares the digests of data with those of a ledger: the digests stay inside."""
    by_key: dict[bytes, Fingerprint] = {}  # the data is as it was: to digest it takes longer than all else here

    def digests(ledger: Ledger) -> Fingerprint:
        key = key_of(ledger)
        if key not in by_key:
            by_key[key] = fingerprint(key)
        return by_key[key]

    def check(ledger: Ledger, known: Identity) -> None:
        check_data(ledger, known, digests(ledger))

    def keep(ledger: Ledger, known: Identity, by: str) -> None:
        keep_data(ledger, known, digests(ledger), by=by)
        ledgers.add(ledger)

    return Holding(sealed(check), sealed(keep))


def _joined(digests: list[str]) -> str:
    return hashlib.sha256("\n".join(digests).encode("utf-8", "surrogatepass")).hexdigest()
