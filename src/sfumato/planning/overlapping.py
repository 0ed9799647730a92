"""Plans about the same people: whether they protect the same, and what somebody loses who is in several data sets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import final

from sfumato.accounting.events import Sequence
from sfumato.accounting.losses.measures import Approx, Loss, Pure
from sfumato.accounting.plans.account import account
from sfumato.accounting.relation import Relation
from sfumato.errors import BadArgument, NoProvenRoute
from sfumato.exact import Number, integer, probability
from sfumato.guarantee import guarantee
from sfumato.planning.record import Plan
from sfumato.release.render.displayed import Displayed
from sfumato.release.render.document import Document, Table

SMALL = Fraction(1, 20)
"""An overlap of at most this share of people is small: they may be dropped from all data sets but one."""


@final
@dataclass(frozen=True, eq=False, repr=False)
class Overlap(Displayed):
    """What somebody loses who is in several data sets. ``total`` is for whoever is in as many as may be.

    ``losses`` are those of the plans, each for one person: ``rows`` says where a person is several of a plan's units.
    """

    protects: str
    losses: tuple[tuple[str, Loss], ...]
    rows: tuple[tuple[str, int], ...]
    at_most: int
    total: Loss
    advice: tuple[str, ...]
    moving: bool = False

    def document(self) -> Document:
        """The losses of the plans, and of somebody in several of them."""
        several = dict(self.rows)
        rows = tuple(
            (name, str(loss), f"{several[name]} of its units are one person" if name in several else "")
            for name, loss in self.losses
        )
        who = f"{self.protects} in {self.at_most} of {len(self.losses)}" if len(self.losses) > 1 else self.protects
        moved = (
            "moving",
            "somebody may leave one of them for another: the losses of twice as many are added",
        ) * self.moving
        facts = tuple(("what to do", one) for one in self.advice)
        tables = [Table(rows, ("plan", "for one person", ""), "Each by itself")]
        tables += [Table((*facts, *([moved] if moved else [])))] if facts or moved else []
        return Document("The same people", f"{self.total}", f"for {who}", tables=tuple(tables))


def overlap(
    plans: Mapping[str, Plan],
    *,
    at_most: int | None = None,
    rows: Mapping[str, int] | None = None,
    share: Number | None = None,
    moving: bool = False,
) -> Overlap:
    """Works out what a person loses who is in several data sets; refuses plans that do not protect the same.

    ``at_most`` is in how many of them one person can be, which must be a fact or made one by dropping rows; left out,
    in all of them. Where plans protect different units, such as a person and a trip, ``rows`` says how many units of a
    plan one person can be, {"trips": 20}: the loss of the person is then that of the group. ``share`` is about which
    share of people is in several. With ``moving``, somebody may be exchanged from one data set to another.
    """
    if not isinstance(plans, Mapping) or not plans or not all(isinstance(one, Plan) for one in plans.values()):
        raise BadArgument("plans", 'named: {"visits": sf.plan(…), "clinic": sf.plan(…)}', type(plans).__name__)
    many = {name: integer(size, f"rows of {name}", least=1) for name, size in (rows or {}).items()}
    if unknown := sorted(set(many) - set(plans)):
        raise BadArgument("rows", f"for plans that are given: {', '.join(plans)}", unknown[0])
    who = _protected(plans, many)
    meeting = len(plans) if at_most is None else integer(at_most, "at_most", least=1, most=len(plans))
    losses = {name: _of_person(plan, many.get(name, 1)) for name, plan in plans.items()}
    exchanged = moving or any(plan.exchanges for plan in plans.values())  # whoever comes instead may be in others
    counted = min(len(plans), 2 * meeting) if exchanged else meeting
    grouped = any(size > 1 for size in many.values())
    whole = counted == len(plans) and not grouped
    total = _composed(plans) if whole else of_largest(list(losses.values()), counted)
    told = tuple(_advice(meeting, len(plans), None if share is None else probability(share, "share"), losses))
    return Overlap(who, tuple(losses.items()), tuple(many.items()), meeting, total, told, exchanged)


def _protected(plans: Mapping[str, Plan], rows: Mapping[str, int]) -> str:
    """Who is protected; refuses plans that protect different units, where nobody says how they hang together."""
    own = {name: plan.protects for name, plan in plans.items() if name not in rows}
    kinds = dict.fromkeys(own.values())
    if len(kinds) > 1:
        said = ", ".join(f"{who} in {name}" for name, who in own.items())
        must = (
            "about plans that protect the same unit. These do not: a loss for one says nothing of the other. Say how "
            'many units of a plan one person can be, rows={"…": 20}, or plan in one unit'
        )
        raise BadArgument("the overlap", must, said)
    relations = {plan.relation for plan in plans.values()}
    if len(relations) > 1:
        must = "about plans with one kind of neighbours: a unit more or fewer, or one exchanged"
        raise BadArgument("the overlap", must, [one.value for one in relations])
    return next(iter(kinds), next(iter(plans.values())).protects)


def _of_person(plan: Plan, rows: int) -> Loss:
    """What a plan costs a person who is so many of its units."""
    loss = plan.totals.get("Pure") or plan.totals.get("Approx") or plan.cost
    return loss if rows == 1 else loss.group(rows)


def _composed(plans: Mapping[str, Plan]) -> Loss:
    """All plans, one after another, composed as one."""
    event, relation = Sequence(*(plan.event for plan in plans.values())), _relation(plans)
    if all("Pure" in plan.totals for plan in plans.values()):
        return of_largest([plan.totals["Pure"] for plan in plans.values()], len(plans))
    return account(event, delta=max(plan.delta for plan in plans.values()), relation=relation).loss


def _relation(plans: Mapping[str, Plan]) -> Relation:
    return next(iter(plans.values())).relation


@guarantee(
    claim="of data sets of which a unit is in at most k, the k largest losses, composed",
    proof="proofs/planning.md#overlap",
    reviewed="c30f8104e6fa",
)
def of_largest(losses: list[Loss], count: int) -> Loss:
    """What somebody loses who is in so many data sets: the largest losses, added up in one kind."""
    kinds = {type(loss) for loss in losses}
    if kinds <= {Pure, Approx} and len(kinds) > 1:
        losses = [
            loss if isinstance(loss, Approx) else Approx(loss.epsilon, 0)
            for loss in losses
            if isinstance(loss, Pure | Approx)
        ]
    elif len(kinds) > 1:
        raise NoProvenRoute("the plans cost different kinds of loss: plan all of them under limits of one kind.")
    return type(losses[0]).widest(losses, count=count)


def _advice(meeting: int, many: int, share: Fraction | None, losses: Mapping[str, Loss]) -> list[str]:
    if many == 1:
        return []
    told = []
    if share is not None and share <= SMALL and meeting > 1:
        told.append(
            "few are in several: drop each person from all data sets but one, by a rule that looks at ids alone; then "
            "at_most=1 is a fact"
        )
    elif share is not None and meeting == many:
        told.append("many are in several: bound in how many one person counts (at_most=…), and drop the rows beyond it")
    if meeting < many:
        told.append(
            f"that nobody is in more than {meeting} must be a fact: checked by ids, or made so by dropping rows"
        )
    return told
