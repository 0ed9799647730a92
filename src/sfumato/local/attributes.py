"""Counts of several attributes of the same people: who answers what, and what becomes of the loss.

Three ways: each person reports one attribute, drawn in public (`OneOf`, the whole loss); each reports all, with a share
of the loss for each (`AllOf`); or one, drawn unseen, among made-up values of the others (`OneTrue`).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias, final

from sfumato.accounting.losses.measures import Pure
from sfumato.entropy import Entropy
from sfumato.errors import BadArgument, Unseen
from sfumato.exact import Number, integer
from sfumato.local.all_of import AllOf
from sfumato.local.chances import read_epsilon
from sfumato.local.choosing import CANDIDATES, CLOSE
from sfumato.local.device import HEAD
from sfumato.local.frequency import Frequencies, FrequencyProtocol, support_variance
from sfumato.local.one_of import OneOf
from sfumato.local.one_true import OneTrue, mixed_chances
from sfumato.local.protocol import Drawn, LocalProtocol, Tally
from sfumato.local.reports import Layout
from sfumato.local.values import Values

Way: TypeAlias = OneOf | AllOf | OneTrue

LONGEST = 1 << 13
"""Where a report holds all questions, a part that would take more bits is not considered if a shorter one fits."""

WORDS = {
    "sample": "each person reports one attribute, drawn in public, with the whole loss",
    "split": "each person reports all attributes, each with its share of the loss",
    "fake": "each person reports one attribute, drawn unseen, among made-up values of the others",
}
"""What the ways do."""


@final
@dataclass(frozen=True)
class Attributes(LocalProtocol[dict[str, Frequencies]]):
    """Counts of several attributes, by name; `attributes` makes one.

    Takes:      names, and a protocol of a way with a question for each of them
    Guarantee:  the loss of the way: all answers of a person together are protected by it
    Cost:       that of the way

    A person's answers are a mapping from all names to values, or a list in the order of names; those of many people
    are a mapping from names to columns (a data frame is one), or a list of columns.
    """

    names: tuple[str, ...]
    way: Way

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", read_names(self.names))
        if len(self.names) != len(self.way.parts):
            raise BadArgument("names", "one for each question", self.names)

    @property
    def loss(self) -> Pure:
        """The loss of a report on all answers."""
        return self.way.loss

    @property
    def layout(self) -> Layout:
        """That of the way."""
        return self.way.layout

    def randomizer(self) -> dict[str, Any]:
        """That of the way."""
        return self.way.recipe()

    def domain(self) -> dict[str, Any] | None:
        """The names, and the domains of all attributes."""
        inner = self.way.domain()
        return None if inner is None else {"named": list(self.names), "of": inner}

    def input_of(self, value: Any) -> Any:
        """What the randomizer of the way is given for a person's answers."""
        return self.way.input_of(in_order(self.names, value))

    def inputs_of(self, values: Any) -> Any:
        """The same for many people: a column for each name."""
        return self.way.inputs_of(in_order(self.names, values))

    def draw(self, inputs: Any, entropy: Entropy) -> Drawn:
        """Draws reports as the way does."""
        return self.way.draw(inputs, entropy)

    def estimate(self, tally: Tally) -> dict[str, Frequencies]:
        """Counts for each attribute; where one was drawn in public, of those who were asked it."""
        return dict(zip(self.names, self.way.estimate(tally), strict=True))


@final
@dataclass(frozen=True)
class AttributePlan:
    """One way to ask for several attributes: its error as a share of people (root of the mean square), its message."""

    how: str
    protocol: Attributes
    error: float
    message_bytes: int

    def __str__(self) -> str:
        return (
            f"{self.how}: {WORDS[self.how]}; each share is off by {self.error:.3g} (root mean square), "
            f"in messages of {self.message_bytes} bytes"
        )


def attribute_plans(
    values: Mapping[str, Sequence[Hashable]],
    *,
    loss: Pure | Number | None = None,
    epsilon: Number | None = None,
    users: int,
) -> list[AttributePlan]:
    """All ways to ask for several attributes, best first: what each would err, and why that one is taken.

    >>> [plan.how for plan in attribute_plans({"a": range(5), "b": range(9)}, loss=1, users=1000)][0]
    'sample'
    """
    names, lists = read_attributes(values)
    epsilon, people = read_epsilon(loss, epsilon), integer(users, "users", least=1)
    plans = [_plan(how, names, lists, epsilon, people) for how in WORDS]
    least = min(plan.error for plan in plans) * float(CLOSE)
    return sorted(plans, key=lambda plan: (plan.error > least, plan.message_bytes * (plan.error <= least), plan.error))


def attributes(
    values: Mapping[str, Sequence[Hashable]],
    *,
    loss: Pure | Number | None = None,
    epsilon: Number | None = None,
    users: int,
    how: str | None = None,
) -> Attributes:
    """The protocol that counts several attributes of people with the least error, or that of a given way.

    Ways are ``"sample"``, ``"split"`` and ``"fake"``; `attribute_plans` says what each would err.

    >>> attributes({"sex": ["f", "m"], "age": range(100)}, loss=Pure(1), users=10_000).names
    ('sex', 'age')
    """
    if how is None:
        return attribute_plans(values, loss=loss, epsilon=epsilon, users=users)[0].protocol
    if how not in WORDS:
        raise BadArgument("how", f"one of {', '.join(WORDS)}", how)
    names, lists = read_attributes(values)
    return _plan(how, names, lists, read_epsilon(loss, epsilon), integer(users, "users", least=1)).protocol


def _plan(how: str, names: tuple[str, ...], lists: tuple[Values, ...], epsilon: Fraction, users: int) -> AttributePlan:
    share = Fraction(1, len(names))
    if how == "sample":
        way, error = _taken(
            OneOf, lists, epsilon, lambda part: asked_error(part, users=users, share=share), compact=False
        )
    elif how == "split":
        way, error = _taken(AllOf, lists, epsilon * share, lambda part: part.mean_squared_error(users=users))
    else:
        way, error = _taken(OneTrue, lists, epsilon, lambda part: _mixed_error(part, users=users, share=share))
    protocol = Attributes(names, way)
    return AttributePlan(how, protocol, float(error) ** 0.5, HEAD + protocol.layout.size)


def _taken(
    build: Callable[[tuple[Any, ...]], Way],
    lists: tuple[Values, ...],
    epsilon: Fraction,
    error: Callable[[FrequencyProtocol], Fraction],
    *,
    compact: bool = True,
) -> tuple[Way, Fraction]:
    """The way with the best part for each attribute, and the mean of their errors."""
    parts, errors = [], []
    for listed in lists:
        tried = [candidate(listed, Pure(epsilon)) for candidate in CANDIDATES.values()]
        fitting = [one for one in tried if one.layout.written_out <= LONGEST] if compact else []
        part = best_part(fitting or tried, error, compact=compact)
        parts.append(part)
        errors.append(error(part))
    return build(tuple(parts)), sum(errors, Fraction(0)) / len(errors)


def best_part(
    tried: Sequence[FrequencyProtocol], error: Callable[[FrequencyProtocol], Fraction], *, compact: bool
) -> FrequencyProtocol:
    """The protocol of the least error; of those within 1 %, the one with the shortest report."""
    errors = [error(one) for one in tried]
    close = [one for one, own in zip(tried, errors, strict=True) if own <= min(errors) * CLOSE**2]
    return min(close, key=lambda one: one.layout.written_out if compact else one.layout.size)


def asked_error(part: FrequencyProtocol, *, users: int, share: Fraction) -> Fraction:
    """The mean squared error of a share of all people, if a share of them is asked: at most that, whatever the data.

    To the error of the reports comes that of the draw: f (1 − f) (1/m − 1/n), which is largest for f alike.
    """
    asked, size = max(Fraction(1), users * share), len(part.values)
    own = part.mean_squared_error(users=1) / asked
    return own + (1 / asked - Fraction(1, users)) * (size - 1) / size**2 if users > asked else own


def _mixed_error(part: FrequencyProtocol, *, users: int, share: Fraction) -> Fraction:
    truth, other = mixed_chances(part, share)
    size = len(part.values)
    nobodys, everybodys = (support_variance(truth, other, users, Fraction(count)) for count in (0, users))
    return (nobodys * (size - 1) + everybodys) / size / users**2


def read_attributes(values: Mapping[str, Sequence[Hashable]]) -> tuple[tuple[str, ...], tuple[Values, ...]]:
    """The names of attributes, and the list of values of each."""
    if not isinstance(values, Mapping) or not values:
        raise BadArgument("values", "a mapping from the name of each attribute to the list of its values", values)
    return read_names(values), tuple(one if isinstance(one, Values) else Values(one) for one in values.values())


def read_names(names: Any) -> tuple[str, ...]:
    """Different names, as texts."""
    listed = tuple(names)
    if not all(isinstance(name, str) for name in listed) or len(set(listed)) < len(listed):
        raise BadArgument("the names of attributes", "different texts", listed)
    return listed


def in_order(names: tuple[str, ...], answers: Any) -> Any:
    """Answers, or columns, in the order of names."""
    if not hasattr(answers, "keys"):
        return answers
    if set(answers.keys()) != set(names):
        raise BadArgument("the answers", f"those to {', '.join(names)}: one each, and no other", Unseen())
    return [answers[name] for name in names]
