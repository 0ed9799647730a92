"""One attack before and after protection: exact answers, tricks, differential privacy; and which ε that allows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import NoReturn, TypeVar, final

from sfumato.accounting.meaning.guidance import LOWER_BOUND, limit_for_success
from sfumato.attacks.reconstruction import OUT_OF_TIME
from sfumato.attacks.result import Attack, Comparison, sweep
from sfumato.errors import BadArgument
from sfumato.exact import Number, down, probability
from sfumato.release.progress import Progress

Attacked = TypeVar("Attacked")
"""What an attack is aimed at: an oracle, a table, a way to publish."""


def before_and_after(
    attack: Callable[[Attacked], Attack],
    *,
    exact: Attacked,
    protections: Mapping[str, Attacked] | None = None,
    private: Callable[[float], Attacked] | None = None,
    epsilons: Iterable[float] = (),
    progress: Progress | None = None,
) -> Comparison:
    """Runs one attack on what is exact, on what each trick protects, and on what is private at each ε.

    ``protections`` are what is attacked instead, by the name of the trick; ``private`` gives it for an ε.
    """
    build = private or _missing
    besides = [_rename(attack(exact), "exact answers", None)]
    for name, protected in (protections or {}).items():
        besides.append(_rename(attack(protected), name, None))

    def at(epsilon: float) -> Attack:
        return _rename(attack(build(epsilon)), f"ε = {epsilon:g}", epsilon)

    return sweep(at, epsilons, besides=besides, progress=progress)


def _rename(outcome: Attack, against: str, epsilon: float | None) -> Attack:
    """Renames what was attacked in an outcome; that time ran out is still said."""
    late = outcome.against.endswith(OUT_OF_TIME)
    return replace(outcome, against=against + OUT_OF_TIME if late else against, epsilon=epsilon)


def _missing(epsilon: float) -> NoReturn:
    raise BadArgument("private", "given with epsilons: what is attacked, from an ε", None)


@final
@dataclass(frozen=True)
class Tolerable:
    """The largest ε of a comparison at which an attack stayed below a success, and the ε that proves it for any.

    ``measured`` is None where no ε that was tried will do; ``proven`` holds for whoever guesses between two equally
    likely cases, whatever the attack.
    """

    success: float
    measured: float | None
    proven: float

    def __str__(self) -> str:
        measured = "no ε that was tried" if self.measured is None else f"ε = {self.measured:g}"
        return (
            f"This attack stays below a success of {self.success:g} at {measured}; every attack that guesses between "
            f"two equally likely cases does at ε = {self.proven:.4g}. {LOWER_BOUND}"
        )


def tolerable_epsilon(comparison: Comparison, success: Number, *, confidence: Number = "0.95") -> Tolerable:
    """Reads from a comparison up to which ε an attack succeeds no more often than is tolerable, with a confidence.

    An ε counts if it, and every smaller one that was tried, has its whole interval at or below the success.
    """
    most = down(probability(success, "success"))
    ends = {
        each.epsilon: each.success.interval(confidence)[1] for each in comparison.attacks if each.epsilon is not None
    }
    fitting = list(takewhile(lambda epsilon: ends[epsilon] <= most, sorted(ends)))
    return Tolerable(most, fitting[-1] if fitting else None, down(limit_for_success(success).epsilon))
