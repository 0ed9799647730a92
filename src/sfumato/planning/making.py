"""Makes plans: reads what is wanted, finds what a limit pays for, and writes it down in the order of spending."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from sfumato.accounting.losses.measures import Approx, Loss, Pure
from sfumato.accounting.meaning.guidance import delta_warning, epsilon_warning
from sfumato.core.metrics import Unit
from sfumato.errors import BadArgument, QueryRefused
from sfumato.exact import Number, integer, probability
from sfumato.ledger.rules import coarse, left_of, stated_limit
from sfumato.planning.choosing import Bought, Chosen, Share, choose
from sfumato.planning.desk import Book, Candidate, Desk
from sfumato.planning.forms import Forms
from sfumato.planning.limits import delta_for
from sfumato.planning.record import Dropped, Plan, Step
from sfumato.planning.shape import Tables
from sfumato.planning.wishes import Wanted, read_wanted
from sfumato.query.answer.normal_text import normal_text
from sfumato.query.build.settings import CONFIDENCE
from sfumato.query.frame.queries import Query
from sfumato.release.render.words import clean


def plan(
    codebook: Book,
    statistics: Sequence[str | Query | Wanted],
    *,
    limit: Loss | None = None,
    epsilon: Number | None = None,
    delta: Number | None = None,
    rows: int | None = None,
    people: int | None = None,
    share: Share = "best",
    unit: str | None = None,
    public: Tables | None = None,
    forms: Forms | None = None,
) -> Plan:
    """Plans statistics under a limit from a codebook alone: what each costs, how exact it is, what does not fit.

    Takes:      ``statistics``: texts in SQL, frames (of `planning.table`), or `wanted` with targets and priorities; a
                ``limit``, or ``epsilon`` and perhaps ``delta``; about how many ``rows`` and ``people`` there are, by
                public knowledge, where the codebook does not say it; ``share``, how what targets leave is shared out:
                "best" (the least errors, weighed, in all), "even", or "ranked" by priority; ``unit``, the column of
                ids, where the codebook names none; ``public``, the data of public tables
    Gives:      a `Plan`, which prints itself: ``chart``, ``html`` for those who decide, ``run`` on a session, ``code``
    Cost:       none: no data is opened

    Statistics with targets come first, by priority and then price; each is bought at the least loss that meets its
    target. Where the limit does not suffice, what comes last is left out, and the plan says what it would cost.

    >>> from sfumato.planning.wishes import wanted
    >>> from sfumato.datasets import visits
    >>> how_many = wanted("SELECT COUNT(*) AS n FROM visits", within=50, max_rows=10)
    >>> made = plan(visits().codebook, [how_many], epsilon=1)
    >>> made.steps[0].loss, made.steps[0].numbers[0].half_width
    (Pure(epsilon=0.5932), 50.0)
    """
    whole = stated_limit(limit, epsilon, delta)
    if not isinstance(whole, Loss):
        raise BadArgument("limit", "given: epsilon=1, or limit=sf.Approx(1, 1e-6), what may be spent in all", None)
    most = None if rows is None else integer(rows, "rows", least=1)
    many = None if people is None else integer(people, "people", least=1)
    desk = Desk.open(codebook, unit=unit, public=public, rows=most, people=many)
    candidates = named([_candidate(desk, one) for one in read_wanted(statistics)])
    chosen = choose(candidates, whole, share=share)
    if not chosen.bought:
        first, _, why = chosen.dropped[0]
        raise QueryRefused(f"the limit {whole} pays for none of these statistics: {first.wanted.name}: {why}.")
    steps = _keyed([_step(one) for one in chosen.bought], desk.book.digest)
    at = whole.delta if isinstance(whole, Approx) and whole.delta else delta_for(many or 1)
    return Plan(
        title=desk.book.title,
        protects=desk.book.protects,
        digest=desk.book.digest,
        limit=whole,
        relation=desk.relation,
        exchanges=desk.exchanges,
        delta=probability(at, "delta"),
        steps=steps,
        dropped=tuple(_dropped(*one) for one in chosen.dropped),
        factor=chosen.factor,
        left=left_of(chosen.rule),
        beside=tuple((unit.protects, _for_others(chosen, unit)) for unit in desk.dataset.others.values()),
        not_protected=desk.book.not_protected,
        notes=tuple(_notes(whole, many, desk)),
        forms=forms,
    )


def _candidate(desk: Desk, asked: Wanted) -> Candidate:
    """Reads a statistic; what is refused says which one it is."""
    try:
        return desk.candidate(asked)
    except QueryRefused as refusal:
        text = asked.question if isinstance(asked.question, str) else "a frame"
        told = f"{asked.name or clean(text, most=60)}: {refusal}"
    raise QueryRefused(told)


def named(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Names statistics that have no name by what they tell; those of one name are counted."""
    names = [one.wanted.name or _told(one) for one in candidates]
    many, seen, named_ones = Counter(names), Counter[str](), []
    for one, name in zip(candidates, names, strict=True):
        seen[name] += 1
        numbered = name if many[name] == 1 else f"{name} ({seen[name]})"
        named_ones.append(replace(one, wanted=one.wanted.named(numbered)))
    return named_ones


def _told(candidate: Candidate) -> str:
    question = candidate.parts[0][1].asked
    keys = [name for name, _ in question.keys]
    told = ", ".join(name for name in candidate.columns if name not in keys)
    return f"{told} by {', '.join(keys)}" if keys else told


def sql_of(candidate: Candidate) -> str:
    """The statistic as a text in SQL: as it was written, or the normal form of a frame, of parameters and options."""
    asked, tables = candidate.wanted, candidate.desk.opened.catalog.tables
    plain = isinstance(asked.question, str) and not asked.parameters and "OPTIONS" not in asked.question.upper()
    if plain or len(candidate.parts) > 1 or candidate.parts[0][0]:
        return candidate.text
    return normal_text(candidate.parts[0][1].asked, tables)


def _step(bought: Bought) -> Step:
    candidate, offer = bought.candidate, bought.offer
    asked = candidate.wanted
    text = sql_of(candidate)
    return Step(
        name=asked.name,
        sql=text,
        loss=offer.loss,
        price=offer.cost.loss,
        event=offer.cost.event,
        numbers=offer.numbers,
        targets=asked.within,
        confidence=asked.confidence,
        priority=asked.priority,
        weight=asked.weight,
        share=bought.share,
        size=candidate.size,
        guessed=candidate.assumed,
        mechanism=offer.how.mechanism,
        parameters=asked.parameters if text == candidate.text else (),
        settings=replace(asked.settings, confidence=CONFIDENCE),
    )


def _keyed(steps: Sequence[Step], digest: str) -> tuple[Step, ...]:
    """Steps with keys that name the plan and the place in it: the same plan has the same keys wherever it is made."""
    said = "\n".join([digest, *(f"{step.name}: {step.sql} {step.arguments()}" for step in steps)])
    begin = hashlib.sha256(said.encode()).hexdigest()[:12]
    return tuple(replace(step, key=f"plan {begin} {place}") for place, step in enumerate(steps, 1))


def _dropped(candidate: Candidate, offer: object, why: str) -> Dropped:
    price = getattr(getattr(offer, "cost", None), "loss", None)
    return Dropped(candidate.wanted.name, sql_of(candidate), price, candidate.wanted.priority, why)


def _for_others(chosen: Chosen, unit: Unit) -> Loss:
    """What the plan costs a unit of another kind: what each statistic costs it, composed."""
    losses = [coarse(one.offer.measurement.map(unit)) for one in chosen.bought]
    whole = losses[0]
    for one in losses[1:]:
        whole = whole.then(one)
    return whole


def _notes(limit: Loss, people: int | None, desk: Desk) -> list[str]:
    """What must be said of a limit: an ε beyond advice, a δ that is too large; what is sensitive."""
    notes = [epsilon_warning(limit)] if isinstance(limit, Pure | Approx) else []
    lost = Fraction(getattr(limit, "delta", 0))
    if people is not None and lost:
        notes.append(delta_warning(lost, size=people))
        if notes[-1] is not None:
            raise BadArgument("delta", f"below 1/{people}. {notes[-1]}".removesuffix("."), lost)
    elif lost:
        notes.append("δ must be far below 1 in the number of people: state people=…, and it is checked")
    return [*(note for note in notes if note), *desk.book.flags]
