"""The register: which units took part in which release, so that each unit has a limit of its own.

A book counts what all releases cost together, as if every unit were in each of them. A register knows better: a unit
pays only for the releases it took part in, and is left out, silently, of those it cannot pay for. It knows who is in
the data, so it is protected like the data: ids only as keyed tags, in a file of its own, and the key is not in it.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, NoReturn, final

import numpy as np
from numpy.typing import NDArray

from sfumato.accounting.adaptive.filters import SumFilter, same_kind
from sfumato.accounting.codec import from_json, to_json
from sfumato.accounting.losses.measures import Loss
from sfumato.entropy import system
from sfumato.errors import BadArgument, LedgerDamaged, QueryRefused, UnknownFormat
from sfumato.guarantee import guarantee
from sfumato.ledger.addresses import file_at
from sfumato.ledger.register.keys import BLOCK, KEY, SALT, Keys, check_value
from sfumato.ledger.register.names import distinct, one_name
from sfumato.ledger.register.store import Head, Pages, RegisterStore

PROOF = "proofs/register.md#individual"


@guarantee(
    claim="a unit takes part exactly if its own composed losses, this one included, are within its limit",
    proof="proofs/register.md#individual",
    reviewed="c08998ff0784",
)
def charged(own: Loss, loss: Loss, limit: Loss) -> Loss | None:
    """What a unit has spent once it takes part, or None where it may not; looks at nothing of other units."""
    rule = SumFilter(limit, spent=own)
    return rule.after(loss).spent if rule.admits(loss) else None


@guarantee(
    claim="the limit of a group of two: one unit leaves and another enters",
    proof="proofs/register.md#change-one",
    reviewed="4de7a9740339",
)
def changed(limit: Loss) -> Loss:
    """What is promised to a unit if its rows are not removed but replaced by others."""
    return limit.group(2)


@final
@dataclass(frozen=True)
class RegisterReport:
    """What may be said of a register in public: nothing about units, not even how many there are."""

    limit: Loss
    releases: int

    @property
    def kind(self) -> str:
        """Names the kind of loss that is counted."""
        return type(self.limit).__name__

    @property
    def guarantee(self) -> str:
        """Says in one sentence what is promised, and where it is proved."""
        return f"{self.limit} for each unit whose rows are added or removed, over all releases together ({PROOF})"

    def __str__(self) -> str:
        return f"{self.guarantee}; releases so far: {self.releases}"


class _History(NamedTuple):
    """What units have in common that took part in the same releases: the last of these, what was before, the sum."""

    before: int
    entry: int
    spent: str


@final
class Register:
    """The record of which units took part in which release, with a limit for each unit.

    Takes:      the path of its file, or ":memory:"; the key, 32 bytes that are kept elsewhere; for a new one the limit
    Gives:      `admit`, which says for each row whether its unit may take part in a release
    Guarantee:  the limit, for every unit under adding or removing all of its rows, over all releases that are run on
                admitted rows only (proofs/register.md#individual)
    Cost:       about 5 µs for each distinct unit of a release, about 45 bytes of disk for each unit

    >>> from sfumato.accounting.losses.measures import Pure
    >>> register = Register(":memory:", key=Register.new_key(), limit=Pure(1))
    >>> register.admit(["ann", "bob", "ann"], Pure(0.7), release="ages").tolist()
    [True, True, True]
    >>> register.admit(["ann", "eve"], Pure(0.4), release="incomes").tolist()  # ann has 0.3 left
    [False, True]
    >>> register.took_part("ann"), register.left("eve")
    (('ages',), Pure(epsilon=0.6))
    """

    def __init__(self, path: str | Path, *, key: bytes, limit: Loss | None = None) -> None:
        if not isinstance(key, bytes) or len(key) != KEY:
            raise BadArgument("key", f"{KEY} bytes, such as Register.new_key() gives", type(key).__name__)
        if not isinstance(path, str | Path):
            raise BadArgument("path", 'the path of a file, or ":memory:"', path)
        asked = None if limit is None else SumFilter(limit).limit
        self._store = RegisterStore(file_at(path, "path"), new=limit is not None)
        with self._store.writing() as pages:
            head = pages.head() or _begun(pages, key, asked)
        if not hmac.compare_digest(head.checked, check_value(key, head.salt, head.limit)):
            raise BadArgument("key", "the one with which this register was begun (or its head was changed)", "another")
        self._keys, self._salt, self._limit = Keys(key, head.salt), head.salt, _loss(head.limit)
        if asked not in (None, self._limit):
            raise BadArgument("limit", f"left out, or the one of this register, which is {self._limit}", limit)

    @staticmethod
    def new_key() -> bytes:
        """Draws a fresh key. Keep it where the file is not; without it the register is lost."""
        return system().octets(KEY)

    @property
    def limit(self) -> Loss:
        """What each unit may spend, over all releases."""
        return self._limit

    @property
    def identity(self) -> str:
        """Tells this register from every other."""
        return hashlib.sha256(self._salt).hexdigest()

    @property
    def limit_if_changed(self) -> Loss:
        """What holds between data in which one unit's rows are replaced, rather than added or removed."""
        return changed(self._limit)

    def admit(self, ids: object, loss: Loss, *, release: str) -> NDArray[np.bool_]:
        """Tells for each row whether its unit takes part in a release; whoever does has paid when this returns.

        ``ids`` names the unit of each row that is to be used. ``loss`` is what the release costs a unit, all of its
        rows together. Run the release on the rows that are true, and on no others; the answer itself is as private
        as the data. Rows without an id are left out. A release may be admitted in several steps; each is paid. That
        somebody has no room left is no error: it would be seen (proofs/register.md#wrong).
        """
        cost = self._cost(loss)
        name = _release_name(release)
        units = distinct(ids)
        tags = self._keys.tags(units.names)
        order = np.argsort(tags[:, 0].byteswap())  # as SQLite sorts them; so no order of the data gets into the file
        with self._pages(writing=True) as pages:
            keeps = self._take(pages, tags[order], cost, pages.enter(name))
        answers = np.zeros(len(order) + 1, dtype=np.bool_)  # the last one is for rows of no unit, at place −1
        answers[order] = keeps
        return answers[units.place]

    def spent(self, unit: object) -> Loss:
        """What a unit has spent: the composed loss of all releases it took part in."""
        with self._pages() as pages:
            return self._spent(pages, unit)

    def left(self, unit: object) -> Loss:
        """The largest loss that a unit can still take part in."""
        with self._pages() as pages:
            return SumFilter(self._limit, spent=self._spent(pages, unit)).left

    def took_part(self, unit: object) -> tuple[str, ...]:
        """The names of the releases that a unit took part in, in their order."""
        with self._pages() as pages:
            releases, entries = pages.releases(), []
            number = self._number(pages, self._tags_of(unit))
            while number:
                history = self._history(pages, number)
                entries.append(history.entry)
                if history.before >= number:
                    raise LedgerDamaged("a history of the register runs in a circle")
                number = history.before
        return tuple(dict.fromkeys(releases[entry] for entry in reversed(entries) if entry in releases))

    def forget(self, unit: object) -> None:
        """Forgets in which releases a unit took part; what it has spent is kept, under its tag.

        What was released about the unit is out and cannot be called back. If its loss were forgotten too, the same
        unit could be used again from the start, and its limit would mean nothing.
        """
        with self._pages(writing=True) as pages:
            tags = self._tags_of(unit)
            if number := self._number(pages, tags):
                bare = self._history(pages, number)._replace(before=0, entry=0)
                self._put(pages, tags, np.array([self._kept(pages, [bare])], dtype=np.uint64))

    def accessed(self, audience: object, release: str) -> None:
        """Records that a member of the audience accessed a release."""
        tag = self._keys.tag(b"access", one_name(audience, "audience"), _release_name(release).encode())
        with self._pages(writing=True) as pages:
            if release not in pages.releases().values():
                raise BadArgument("release", "the name of a release of this register", release)
            pages.allow(tag)

    def accesses(self, audience: object) -> tuple[str, ...]:
        """The releases that a member of the audience accessed, in the order in which they were made."""
        who = one_name(audience, "audience")
        with self._pages() as pages:
            names = dict.fromkeys(pages.releases().values())
            return tuple(name for name in names if pages.allowed(self._keys.tag(b"access", who, name.encode())))

    def report(self) -> RegisterReport:
        """What may be published: the limit, and how many releases there were."""
        with self._pages() as pages:
            return RegisterReport(self._limit, len(set(pages.releases().values())))

    def __repr__(self) -> str:
        return f"Register(limit={self._limit!r})"

    def __reduce__(self) -> NoReturn:
        raise BadArgument("a register", "opened where it is used: it holds a key, which must not travel", "a copy")

    def _cost(self, loss: Loss) -> Loss:
        """Reads a loss; refuses one that nobody could pay. The answer depends on public numbers only."""
        cost = same_kind(loss, self._limit, "loss")
        if not SumFilter(self._limit).admits(cost):
            raise QueryRefused(
                f"{loss} is more than the limit of one unit, {self._limit}: nobody could ever take part. Nothing was "
                "recorded; ask for something cheaper."
            )
        return cost

    @contextmanager
    def _pages(self, *, writing: bool = False) -> Iterator[Pages]:
        with self._store.writing() if writing else self._store.reading() as pages:
            head = pages.head()
            if head is None or head.salt != self._salt:
                raise LedgerDamaged("the file of the register is another one than it was")
            yield pages

    def _take(self, pages: Pages, tags: NDArray[np.uint64], cost: Loss, entry: int) -> NDArray[np.bool_]:
        """Charges every unit that can pay and writes all of them anew, so that the file does not tell who could."""
        before, inverse = np.unique(self._numbers(pages, tags), return_inverse=True)
        outcome: dict[str, str | None] = {}
        made: list[_History] = []
        after, paying = before.copy(), np.zeros(len(before), dtype=np.bool_)
        first = pages.next_history()
        for place, number in enumerate(before.tolist()):
            own = self._history(pages, number).spent
            if own not in outcome:
                total = charged(_loss(own), cost, self._limit)
                outcome[own] = None if total is None else to_json(total)
            if (spent := outcome[own]) is not None:
                after[place], paying[place] = first + len(made), True
                made.append(_History(number, entry, spent))
        self._kept(pages, made)
        self._put(pages, tags, after[inverse])
        return paying[inverse]

    def _kept(self, pages: Pages, histories: list[_History]) -> int:
        """Writes new histories; gives the number of the first."""
        first = pages.next_history()
        pages.keep([(first + i, self._keys.sealed(json.dumps(one), first + i)) for i, one in enumerate(histories)])
        return first

    def _history(self, pages: Pages, number: int) -> _History:
        if number == 0:  # whoever is new
            return _History(0, 0, to_json(SumFilter(self._limit).spent))
        return _History(*json.loads(self._keys.opened(pages.history(number), number)))

    def _numbers(self, pages: Pages, tags: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """The number of each unit's history, 0 where it is new."""
        blocks = pages.find(tags.tobytes())
        if any(hidden is not None and len(hidden) != BLOCK for hidden in blocks):
            raise LedgerDamaged("a unit of the register cannot be read")
        known = np.fromiter((hidden is not None for hidden in blocks), dtype=np.bool_, count=len(blocks))
        numbers = np.zeros(len(blocks), dtype=np.uint64)
        numbers[known] = self._keys.numbers(b"".join(hidden for hidden in blocks if hidden is not None), tags[known])
        return numbers

    def _number(self, pages: Pages, tags: NDArray[np.uint64]) -> int:
        return int(self._numbers(pages, tags)[0])

    def _put(self, pages: Pages, tags: NDArray[np.uint64], numbers: NDArray[np.uint64]) -> None:
        pages.put(tags.tobytes(), self._keys.hidden(numbers, tags))

    def _tags_of(self, unit: object) -> NDArray[np.uint64]:
        return self._keys.tags([one_name(unit, "unit")])

    def _spent(self, pages: Pages, unit: object) -> Loss:
        return _loss(self._history(pages, self._number(pages, self._tags_of(unit))).spent)


def _begun(pages: Pages, key: bytes, limit: Loss | None) -> Head:
    if limit is None:
        raise BadArgument("limit", "given, to begin a new register: the file is empty", None)
    salt, written = system().octets(SALT), to_json(limit)
    head = Head(salt, written, check_value(key, salt, written))
    pages.begin(head)
    return head


def _loss(text: str) -> Loss:
    try:
        loss = from_json(text)
    except UnknownFormat:
        loss = None
    if not isinstance(loss, Loss):
        raise LedgerDamaged("a loss in the register cannot be read")
    return loss


def _release_name(release: object) -> str:
    if not isinstance(release, str) or not release.strip() or not release.isprintable():
        raise BadArgument("release", "a name: a text that can be printed, and not empty", release)
    return release
