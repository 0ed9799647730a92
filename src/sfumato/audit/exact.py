"""The exact auditor: what a mechanism with a known output law costs, over all pairs of neighbours, without sampling."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from itertools import product
from typing import TypeAlias

from sfumato.accounting.curves import read_order
from sfumato.accounting.measures import Loss
from sfumato.audit.drawn import curves
from sfumato.audit.questions import Answer, event_words, kept_lines, questions, worst_first
from sfumato.audit.record import Audit, Witness
from sfumato.audit.tables import Table, remembered, side_by_side
from sfumato.core.brute import neighbours
from sfumato.core.domains import Categories, Data, Domain, Integers, Vector
from sfumato.core.law import Law
from sfumato.core.measurement import Measurement
from sfumato.core.metrics import Unit
from sfumato.core.spread import Stated
from sfumato.entropy import Entropy, system
from sfumato.errors import BadArgument, NoDistance, NotInDomain
from sfumato.exact import BITS, Number, digits_up, integer, non_negative, precision, probability
from sfumato.release.progress import Progress, shown

Pairs: TypeAlias = Sequence[tuple[Data, Data]]

MOST_MEMBERS = 4096
"""A domain with more members than this is not written out."""


def exact(
    measurement: Measurement,
    members: Iterable[Data] | None = None,
    *,
    pairs: Iterable[tuple[Data, Data]] | None = None,
    d_in: Stated | Unit | None = None,
    missed: Number | None = None,
    orders: Sequence[Number] = (),
    epsilons: Sequence[Number] = (),
    sampled: int | None = None,
    entropy: Entropy | None = None,
    progress: Progress | None = None,
) -> Audit:
    """Measures the true loss of a mechanism from its output law, and compares it with the claimed one.

    Looks at every two of the ``members`` that are at most ``d_in`` apart, at the given ``pairs`` both ways round, or,
    without either, at the whole domain where that is small; ``sampled`` picks so many pairs at random. Of noise without
    end other than Laplace noise, a mass of ``missed`` is left out and accounted for. ``orders`` and ``epsilons`` ask
    for Rényi divergences and δ beside what the claim is about.

    >>> import sfumato as sf
    >>> audit = exact(sf.scalar(bool) >> sf.randomized_response(p="0.75"))
    >>> audit.verdict, audit.witness.left
    (<Verdict.TIGHT: 'tight'>, False)
    """
    if not isinstance(measurement, Measurement):
        raise BadArgument("the measurement", "a measurement, such as space >> sf.laplace(scale=1)", type(measurement))
    if measurement.law is None:
        must = "one whose exact law is on file; sf.audit.black_box audits any other by sampling"
        raise BadArgument("the measurement", must, measurement.how.mechanism)
    distance = measurement.source.closest if d_in is None else d_in
    found = _pairs(measurement, members, pairs, distance)
    chosen = found if sampled is None else _some(found, integer(sampled, "sampled", least=1), entropy or system())
    left_out = None if missed is None else probability(missed, "missed")
    return judged(
        measurement.how.mechanism,
        measurement.map(distance),
        chosen,
        _tables(measurement.law, left_out),
        orders=[read_order(order) for order in orders],
        epsilons=[non_negative(epsilon, "epsilon") for epsilon in epsilons],
        facts=(("ordered pairs of neighbours", _counted(len(chosen), len(found))),),
        progress=progress,
    )


def _counted(looked_at: int, known: int) -> str:
    return str(known) if looked_at == known else f"{looked_at} of {known}, drawn at random"


def judged(
    subject: str,
    claim: Loss,
    pairs: Pairs,
    table_of: Callable[[Data, Data], Table],
    *,
    orders: Sequence[Fraction] = (),
    epsilons: Sequence[Fraction] = (),
    facts: tuple[tuple[str, str], ...] = (),
    progress: Progress | None = None,
) -> Audit:
    """Compares a claim with what is measured on ordered pairs."""
    answers = [Answer(question) for question in questions(claim, orders, epsilons)]
    most, missed = 0, Fraction(0)
    with shown(progress, "auditing") as tell:
        for place, (left, right) in enumerate(pairs):
            table = table_of(left, right)
            for answer in answers:
                answer.see(table, place)
            most = max(most, len(table.outcomes))
            missed = missed if table.rest is None else max(missed, table.rest.left[1])
            tell(place + 1, len(pairs))
    worst = worst_first(answers)[0]
    left, right = pairs[worst.place]
    table = table_of(left, right)
    return Audit(
        subject=subject,
        method="exact, from the output law",
        lines=kept_lines(answers),
        witness=Witness(left, right, event_words(table, worst.question.epsilon)),
        curves=curves(claim, table.left, table.right),
        facts=(
            ("claim", str(claim)),
            *facts,
            ("outcomes of a pair", f"up to {most}"),
            ("mass not listed", "none" if missed == 0 else f"at most {digits_up(missed, 3)}, accounted for"),
        ),
    )


def _tables(law: Callable[[Data], Law], missed: Fraction | None) -> Callable[[Data, Data], Table]:
    """Gives what lists a pair of laws; each member's law is worked out once."""
    known: dict[int, tuple[Data, Law]] = {}

    def law_of(member: Data) -> Law:
        if id(member) not in known:
            with precision(BITS):
                known[id(member)] = member, remembered(law(member))  # the member is held, so that its id stays its own
        return known[id(member)][1]

    return lambda left, right: side_by_side(law_of(left), law_of(right), missed)


def _pairs(
    measurement: Measurement,
    members: Iterable[Data] | None,
    pairs: Iterable[tuple[Data, Data]] | None,
    d_in: Stated | Unit,
) -> Pairs:
    source = measurement.source
    if pairs is None:
        known = every_member(source.domain) if members is None else list(members)
        _check_members(source.domain, known)
        found = [(left, right) for left, right in neighbours(source, known, d_in=d_in) if left is not right]
    else:
        given = [(left, right) for left, right in pairs]
        if members is not None:
            raise BadArgument("members", "left out where pairs are given", "both")
        _check_members(source.domain, [member for pair in given for member in pair])
        if not all(_close(measurement, left, right, d_in) for left, right in given):
            raise BadArgument("pairs", "at most d_in apart: the claim speaks of no others", f"d_in = {d_in}")
        found = [turned for left, right in given for turned in ((left, right), (right, left))]
    if not found:
        raise BadArgument("members", "with two neighbours among them at least, or there is nothing to compare", "none")
    return found


def _check_members(domain: Domain, members: Sequence[Data]) -> None:
    if not all(domain.member(member) for member in members):
        raise NotInDomain(domain)


def _close(measurement: Measurement, left: Data, right: Data, d_in: Stated | Unit) -> bool:
    try:
        return bool(measurement.source.distance(left, right) <= measurement.source.metric.read(d_in))
    except NoDistance:
        return False


def every_member(domain: Domain) -> list[Data]:
    """Writes out a small finite domain; refuses any other."""
    match domain:
        case Categories(values=values):
            found: list[Data] = list(values)
        case Integers(between=bounds, step=step) if bounds is not None and bounds.width / step < MOST_MEMBERS:
            found = list(range(math.ceil(bounds.lower / step), math.floor(bounds.upper / step) + 1))
        case Vector(element=element, size=int(size)):
            single = every_member(element)
            if len(single) ** size > MOST_MEMBERS:
                raise _too_large(domain)
            found = [list(row) for row in product(single, repeat=size)]
        case _:
            raise _too_large(domain)
    if len(found) > MOST_MEMBERS:
        raise _too_large(domain)
    return found


def _too_large(domain: Domain) -> BadArgument:
    must = f"given, or pairs=[…], where the domain is not one of up to {MOST_MEMBERS} members that can be listed"
    return BadArgument("members", must, str(domain))


def _some(pairs: Pairs, count: int, entropy: Entropy) -> Pairs:
    """Picks pairs at random, none twice."""
    left = list(pairs)
    for place in range(min(count, len(left))):
        other = place + entropy.below(len(left) - place)
        left[place], left[other] = left[other], left[place]
    return left[:count]
