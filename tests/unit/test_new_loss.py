"""A new kind of loss, made here, works everywhere without a change to the package: what CONTRIBUTING promises."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from fractions import Fraction
from typing import Any, final

import polars as pl
import pytest
from flint import arb

import sfumato as sf
from sfumato.accounting import events
from sfumato.accounting.adaptive.filters import ADDS, SumFilter
from sfumato.accounting.codec import from_plain, to_plain
from sfumato.accounting.convert.routes import CONVERSIONS, converts
from sfumato.accounting.facts.table import FACTS, PURCHASES, buys, fact, load_facts, loss_of, noise_within
from sfumato.accounting.losses.amounts import amount, multiple, total
from sfumato.accounting.losses.measures import Additive, Pure
from sfumato.accounting.tables import LEAVES, leaf
from sfumato.audit.exact import exact
from sfumato.audit.record import Verdict
from sfumato.exact import Extended, Number, ball, digits_up, lower, upper
from sfumato.guarantee import GUARANTEES, guarantee
from sfumato.ledger.ledger import Ledger
from sfumato.noise.discrete_laplace import DiscreteLaplace
from sfumato.plain import record

TABLES: tuple[Any, ...] = (ADDS, CONVERSIONS, FACTS, PURCHASES, GUARANTEES, LEAVES)
BOOK: dict[str, Any] = {
    "codebook": 1,
    "title": "t",
    "unit": {"protects": "a person", "id": "u"},
    "tables": {
        "t": {
            "contributions": {"rows": 1, "source": "s"},
            "columns": {"u": {"type": "int"}, "x": {"type": "float", "between": [0, 10], "source": "s"}},
        }
    },
}


@final
@record("Bits", repr=False)
class Bits(Additive):
    """Pure privacy counted in bits: every outcome's probability changes by a factor of at most 2^bits."""

    bits: Extended

    def __init__(self, bits: Number) -> None:
        object.__setattr__(self, "bits", amount(bits, "bits"))

    @classmethod
    def nothing(cls) -> Bits:
        return cls(0)

    def then(self, other: Bits) -> Bits:
        self._same(other)
        return Bits(total((self.bits, other.bits)))

    def group(self, size: int) -> Bits:
        return Bits(multiple(size, self.bits))

    def __str__(self) -> str:
        return f"{digits_up(self.bits)} bits"


def in_bits(epsilon: Extended) -> Bits:
    return Bits(upper(lambda: ball(Fraction(epsilon)) / ball(2).log()))


def nats(loss: Bits) -> arb:
    return ball(Fraction(loss.bits)) * ball(2).log()


@pytest.fixture(autouse=True)
def bits() -> Iterator[None]:
    """Files what the package is told of the new kind, and takes it out again."""
    load_facts()
    before = [copy(table) for table in (*TABLES, CONVERSIONS[Pure])]
    proved = guarantee(
        claim="a factor of exp(epsilon) is one of 2^(epsilon / ln 2)", proof="proofs/bits.md", reviewed=""
    )

    def from_pure(loss: Pure, _: object = None) -> Bits:
        return in_bits(loss.epsilon)

    def to_pure(loss: Bits, _: object = None) -> Pure:
        return Pure(upper(lambda: nats(loss)))

    converts(Pure, Bits, theorem="by definition", lossless=True)(proved(from_pure))
    converts(Bits, Pure, theorem="by definition", lossless=True)(proved(to_pure))
    fact(DiscreteLaplace, Bits)(lambda noise, shift: in_bits(Fraction(shift) / noise.scale))
    buys(Bits)(lambda loss, shift: DiscreteLaplace(Fraction(shift) / Fraction(lower(lambda: nats(loss)))))
    leaf(events.Laplace, Bits)(lambda event: in_bits(Fraction(event.shift) / event.scale))
    ADDS[Bits] = "proofs/bits.md"
    yield
    for table, saved in zip((*TABLES, CONVERSIONS[Pure]), before, strict=True):
        table.clear()
        table.update(saved)


def test_its_arithmetic_follows_from_its_amounts() -> None:
    limit = Bits(3)
    assert limit.minus(Bits(1)) == Bits(2) and limit.meet(Bits(2)) == Bits(2) == Bits.widest([Bits(1), Bits(2)])
    assert limit.scaled(Fraction(1, 3)) == Bits(1) == Bits.nothing().then(Bits(1))
    assert sf.split(limit, ["a", "b"]) == {"a": Bits(Fraction(3, 2)), "b": Bits(Fraction(3, 2))}
    assert Bits("1/3").str_down() == "0.333333 bits" and str(Bits("1/3")) == "0.333334 bits"
    assert from_plain(to_plain(limit)) == limit


def test_facts_conversions_and_events_know_it() -> None:
    assert loss_of(noise_within(Bits(2), Fraction(3)), Bits, Fraction(3)).within(Bits(2))
    assert sf.convert(Bits(1), sf.Approx).delta == 0
    assert sf.total(events.Repeat(events.Laplace(scale=2), 4), Bits).within(Bits("2.8854"))
    assert (sf.scalar(int) >> sf.laplace(scale=2)).map(1) == sf.Pure("0.5")
    assert sf.convert_measure(sf.scalar(int) >> sf.laplace(scale=2), Bits).map(1).within(Bits("0.72135"))


def test_it_limits_filters_and_ledgers() -> None:
    spent = SumFilter(Bits(2)).after(Bits("1.5"))
    assert spent.left == Bits("0.5") and not spent.admits(Bits("0.51"))
    ledger = Ledger.open("memory:")
    ledger.open_account("visits", limit=Bits(2))
    ledger.open_account("visits/one", limit=sf.Pure(1))
    ledger.charge("visits/one", sf.Pure("0.5"))
    assert ledger["visits"].spent.within(Bits("0.72135")) and ledger.left("visits").within(Bits("1.2787"))
    assert ledger.left("visits/one").within(sf.Pure("0.5"))
    assert ledger.verify()


def test_sessions_and_questions_are_paid_in_it() -> None:
    data = sf.Dataset(pl.DataFrame({"u": range(100), "x": [1.0] * 100}), codebook=BOOK, name="t")
    session = data.session(limit=Bits(2), ledger="memory:")
    told = str(session.explain("SELECT COUNT(*) AS n FROM t"))
    assert "0.2 bits" in told and "0.4 bits" in told and "as Pure" in told
    release = session.sql("SELECT COUNT(*) AS n FROM t", loss=Bits("0.5"))
    assert release.loss.within(Bits("0.5")) and not release.loss.within(Bits("0.4999"))
    assert session.left.str_down() in str(session.overview())
    assert session.left_in(sf.Pure).within(sf.Pure("1.04"))


def test_audits_compare_what_follows_from_it() -> None:
    measurement = sf.convert_measure(
        sf.scalar(int, between=(0, 3)) >> sf.mechanisms.censored_laplace(scale=2, between=(0, 3)), Bits
    )
    assert exact(measurement).verdict is not Verdict.VIOLATED
