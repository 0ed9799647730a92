"""The exact auditor: what a mechanism with a known output law costs, over all pairs of neighbours, without sampling."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import permutations, product
from typing import Any, TypeAlias, final

from sfumato.accounting.losses.measures import Loss
from sfumato.accounting.renyi.curves import read_order
from sfumato.audit.brute_force import neighbours
from sfumato.audit.drawn import curves
from sfumato.audit.questions import Findings, event_words, kept_lines, questions, worst_first
from sfumato.audit.record import Audit, Witness
from sfumato.audit.tables import LawPair, remembered, side_by_side
from sfumato.core.domains import Categories, Data, Domain, Integers, Vector
from sfumato.core.grouped_distance import DistanceLike
from sfumato.core.law import Law
from sfumato.core.measurement import Measurement
from sfumato.core.metrics import Absolute, Discrete, Unit
from sfumato.core.space import Space
from sfumato.entropy import Entropy, system
from sfumato.errors import BadArgument, NoDistance, NotInDomain, SfumatoError
from sfumato.exact import BITS, Number, digits_up, integer, non_negative, positive, precision, probability
from sfumato.release.progress import Progress, reporting

Pairs: TypeAlias = Sequence[tuple[Data, Data]]

MOST_MEMBERS = 4096
"""A domain with more members than this is not written out."""


def exact(
    measurement: Measurement,
    members: Iterable[Data] | Data | None = None,
    neighbour: Data | None = None,
    *,
    pairs: Iterable[tuple[Data, Data]] | None = None,
    d_in: DistanceLike | Unit | None = None,
    missed: Number | None = None,
    orders: Sequence[Number] = (),
    epsilons: Sequence[Number] = (),
    sampled: int | None = None,
    seconds: Number | None = None,
    entropy: Entropy | None = None,
    progress: Progress | None = None,
) -> Audit:
    """Measures the true loss of a mechanism from its output law, and compares it with the claimed one.

    Looks at every two of the ``members`` that are at most ``d_in`` apart, at the given ``pairs`` both ways round (of a
    single pair ``exact(measurement, one, other)`` is short), or, without either, at the whole domain where that is
    small; ``sampled`` picks that many pairs at random, and with a limit in ``seconds`` they are looked at in random
    order, until the time is up. Of noise without end other than Laplace noise, a mass of ``missed`` is left out and
    accounted for. ``orders`` and ``epsilons`` ask for Rényi divergences and δ beside what the claim is about.

    >>> import sfumato as sf
    >>> audit = exact(sf.scalar(bool) >> sf.randomized_response(p="0.75"))
    >>> audit.verdict, audit.witness.left
    (<Verdict.TIGHT: 'tight'>, False)
    """
    if not isinstance(measurement, Measurement):
        raise BadArgument("the measurement", "a measurement, such as space >> sf.laplace(scale=1)", type(measurement))
    if measurement.law is None:
        must = "one with a known exact law; sf.audit.black_box audits any other by sampling"
        raise BadArgument("the measurement", must, measurement.how.mechanism)
    until = math.inf if seconds is None else time.monotonic() + float(positive(seconds, "seconds"))
    distance = measurement.source.closest if d_in is None else d_in
    every_pair = _pairs(measurement, *_stated(members, neighbour, pairs), distance)
    most = len(every_pair) if sampled is None else integer(sampled, "sampled", least=1)
    chosen = every_pair if sampled is None and seconds is None else Mixed(every_pair, most, entropy or system())
    left_out = None if missed is None else probability(missed, "missed")
    return judged(
        measurement.how.mechanism,
        measurement.map(distance),
        chosen,
        _tables(measurement.law, left_out),
        orders=[read_order(order) for order in _several(orders, "orders")],
        epsilons=[non_negative(epsilon, "epsilon") for epsilon in _several(epsilons, "epsilons")],
        known=len(every_pair),
        until=until,
        progress=progress,
    )


def _several(values: Iterable[Any], what: str) -> Iterable[Any]:
    if not isinstance(values, Iterable):
        raise BadArgument(what, "several, in a list", type(values).__name__)
    return values


def _count_words(looked_at: int, chosen: int, known: int) -> str:
    """Says how many pairs were looked at, and why not at all."""
    if looked_at == known:
        return str(known)
    return f"{looked_at} of {known}, drawn at random" + ("" if looked_at == chosen else ", until the time was up")


def judged(
    subject: str,
    claim: Loss,
    pairs: Pairs,
    table_of: Callable[[Data, Data], LawPair],
    *,
    orders: Sequence[Fraction] = (),
    epsilons: Sequence[Fraction] = (),
    known: int | None = None,
    until: float = math.inf,
    progress: Progress | None = None,
) -> Audit:
    """Compares a claim with what is measured on ordered pairs: some of all that are known, until the time is up."""
    answers = [Findings(question) for question in questions(claim, orders, epsilons)]
    most, missed, done = 0, Fraction(0), 0
    with reporting(progress, "auditing") as tell:
        for place, (left, right) in enumerate(pairs):
            table = table_of(left, right)
            for answer in answers:
                answer.see(table, place)
            most = max(most, len(table.outcomes))
            missed = missed if table.rest is None else max(missed, table.rest.left[1])
            tell(done := place + 1, len(pairs))
            if time.monotonic() > until:
                break
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
            ("ordered pairs of neighbours", _count_words(done, len(pairs), known or len(pairs))),
            ("outcomes of a pair", f"up to {most}"),
            ("mass not listed", "none" if missed == 0 else f"at most {digits_up(missed, 3)}, accounted for"),
        ),
    )


def _tables(law: Callable[[Data], Law], missed: Fraction | None) -> Callable[[Data, Data], LawPair]:
    """Builds what lists a pair of laws; each member's law is computed once."""
    known: dict[int, tuple[Data, Law]] = {}

    def law_of(member: Data) -> Law:
        if id(member) not in known:
            with precision(BITS):
                known[id(member)] = member, remembered(_ask_law(law, member))  # held, so that its id stays its own
        return known[id(member)][1]

    return lambda left, right: side_by_side(law_of(left), law_of(right), missed)


def _ask_law(law: Callable[[Data], Law], member: Data) -> Law:
    """Asks for the law on one member; a step after the mechanism may fail on an outcome that it never met before."""
    try:
        return law(member)
    except SfumatoError:
        raise
    except Exception as error:
        must = "one that can be listed: no step after the mechanism may fail; sf.audit.black_box takes errors too"
        raise BadArgument("the known law", must, type(error).__name__) from None


def _stated(
    members: Iterable[Data] | Data | None, neighbour: Data | None, pairs: Iterable[tuple[Data, Data]] | None
) -> tuple[Iterable[Data] | None, Iterable[tuple[Data, Data]] | None]:
    """Members and pairs, where one of two neighbours may stand in place of the members, and the other after it."""
    if neighbour is None:
        return members, pairs
    if pairs is not None:
        raise BadArgument("pairs", "left out where two neighbours are given", "both")
    return None, [(members, neighbour)]


def _pairs(
    measurement: Measurement,
    members: Iterable[Data] | None,
    pairs: Iterable[tuple[Data, Data]] | None,
    d_in: DistanceLike | Unit,
) -> Pairs:
    source = measurement.source
    if pairs is None:
        known = every_member(source.domain) if members is None else list(_several(members, "members"))
        _check_members(source.domain, known)
        listed = _in_order(source, known, d_in) if members is None else None
        near = neighbours(source, known, d_in=d_in) if listed is None else listed
        near_pairs = [(left, right) for left, right in near if left is not right]
    else:
        given_pairs = _read_pairs(pairs)
        if members is not None:
            raise BadArgument("members", "left out where pairs are given", "both")
        _check_members(source.domain, [member for pair in given_pairs for member in pair])
        if not all(_close(measurement, left, right, d_in) for left, right in given_pairs):
            raise BadArgument("pairs", "at most d_in apart: the claim speaks of no others", f"d_in = {d_in}")
        near_pairs = [turned for left, right in given_pairs for turned in ((left, right), (right, left))]
    if not near_pairs:
        raise BadArgument("members", "with two neighbours among them at least, or there is nothing to compare", "none")
    return near_pairs


def _read_pairs(pairs: Iterable[tuple[Data, Data]]) -> list[tuple[Data, Data]]:
    try:
        return [(left, right) for left, right in pairs]
    except (TypeError, ValueError):
        must = "pairs of members, as in pairs=[(0, 1)]"
        raise BadArgument("pairs", must, type(pairs).__name__) from None


def _in_order(source: Space, members: Sequence[Data], d_in: DistanceLike | Unit) -> Iterator[tuple[Data, Data]] | None:
    """Lists neighbours among all members of a domain without looking at every two, where its metric is a plain one."""
    reach = source.metric.read(d_in)
    if isinstance(source.metric, Discrete):
        return permutations(members, 2) if reach >= 1 else iter(())
    if not isinstance(source.metric, Absolute) or not isinstance(source.domain, Integers) or reach == math.inf:
        return None
    steps = math.floor(Fraction(reach) / source.domain.step)
    return (
        (left, members[near_place])
        for place, left in enumerate(members)
        for near_place in range(max(0, place - steps), min(len(members), place + steps + 1))
        if near_place != place
    )


def _check_members(domain: Domain, members: Sequence[Data]) -> None:
    if not all(domain.member(member) for member in members):
        raise NotInDomain(domain)


def _close(measurement: Measurement, left: Data, right: Data, d_in: DistanceLike | Unit) -> bool:
    try:
        return bool(measurement.source.distance(left, right) <= measurement.source.metric.read(d_in))
    except NoDistance:
        return False


def every_member(domain: Domain) -> list[Data]:
    """Writes out a small finite domain; refuses any other."""
    match domain:
        case Categories(values=values):
            members: list[Data] = list(values)
        case Integers(between=bounds, step=step) if bounds is not None and bounds.width / step < MOST_MEMBERS:
            members = list(range(math.ceil(bounds.lower / step), math.floor(bounds.upper / step) + 1))
        case Vector(element=element, size=int(size)):
            single = every_member(element)
            if len(single) ** size > MOST_MEMBERS:
                raise _too_large(domain)
            members = [list(row) for row in product(single, repeat=size)]
        case _:
            raise _too_large(domain)
    if len(members) > MOST_MEMBERS:
        raise _too_large(domain)
    return members


def _too_large(domain: Domain) -> BadArgument:
    must = f"given, or pairs=[…], where the domain is not one of up to {MOST_MEMBERS} members that can be listed"
    return BadArgument("members", must, str(domain))


@final
class Mixed(Sequence[tuple[Data, Data]]):
    """Some pairs at random, none twice; each is drawn where it is first looked at."""

    def __init__(self, pairs: Pairs, count: int, entropy: Entropy) -> None:
        self._pairs, self._count, self._entropy, self._drawn = list(pairs), min(count, len(pairs)), entropy, 0

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, place: Any) -> Any:
        if not 0 <= place < self._count:
            raise IndexError(place)
        for here in range(self._drawn, place + 1):
            drawn = here + self._entropy.below(len(self._pairs) - here)
            self._pairs[here], self._pairs[drawn] = self._pairs[drawn], self._pairs[here]
            self._drawn = here + 1
        return self._pairs[place]
