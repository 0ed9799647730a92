"""Events: what they hold, and what they refuse."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import FrozenInstanceError
from fractions import Fraction

import pytest
from tests.examples.events import EXAMPLES, final_classes

from sfumato.accounting import events as ev
from sfumato.accounting.compose import parts_of
from sfumato.accounting.facts.selection import ExponentialSelection, TopSelection
from sfumato.accounting.leaf_losses import tree_square
from sfumato.accounting.losses.measures import Pure
from sfumato.errors import BadArgument
from sfumato.noise import DiscreteLaplace

BAD: dict[str, Callable[[], object]] = {
    "Gaussian of scale 0": lambda: ev.Gaussian(0),
    "Gaussian of scale NaN": lambda: ev.Gaussian(math.nan),
    "Gaussian of scale inf": lambda: ev.Gaussian(math.inf),
    "Gaussian moved backwards": lambda: ev.Gaussian(1, shift=-1),
    "Gaussian of a word": lambda: ev.Gaussian("one"),
    "Gaussian of True": lambda: ev.Gaussian(True),
    "Laplace of scale -1": lambda: ev.Laplace(-1),
    "Laplace moved by NaN": lambda: ev.Laplace(1, shift=math.nan),
    "Noise that is a number": lambda: ev.Noise(3),
    "Noise that is a class": lambda: ev.Noise(DiscreteLaplace),
    "Noise on 0 coordinates": lambda: ev.Noise(DiscreteLaplace(Fraction(1)), coordinates=0),
    "Selection that is noise": lambda: ev.Selection(DiscreteLaplace(Fraction(1))),
    "Selection that is a text": lambda: ev.Selection("exponential"),
    "Selection at temperature 0": lambda: ev.Selection(ExponentialSelection(Fraction(0))),
    "Selection of fewer than none": lambda: ev.Selection(TopSelection(-1, Fraction(-1))),
    "Response of -1": lambda: ev.Response(-1),
    "Response with one option": lambda: ev.Response(1, options=1),
    "Stated without a loss": lambda: ev.Stated(0.5),  # type: ignore[arg-type]
    "Stated with a note of numbers": lambda: ev.Stated(Pure(1), 3),  # type: ignore[arg-type]
    "Sequence of a number": lambda: ev.Sequence(ev.Laplace(1), 2),  # type: ignore[arg-type]
    "Sequence of a list": lambda: ev.Sequence([ev.Laplace(1)]),  # type: ignore[arg-type]
    "Repeat -1 times": lambda: ev.Repeat(ev.Laplace(1), -1),
    "Repeat half a time": lambda: ev.Repeat(ev.Laplace(1), 0.5),  # type: ignore[arg-type]
    "Repeat True times": lambda: ev.Repeat(ev.Laplace(1), True),
    "Repeat a loss": lambda: ev.Repeat(Pure(1), 2),  # type: ignore[arg-type]
    "Parallel without overlap": lambda: ev.Parallel(ev.Laplace(1), overlap=0),
    "Mixture of too little": lambda: ev.Mixture(ev.Laplace(1), weights=(0.5,)),
    "Mixture of negative weights": lambda: ev.Mixture(ev.Laplace(1), ev.Laplace(2), weights=(-1, 2)),
    "Mixture of nothing": lambda: ev.Mixture(weights=()),
    "Poisson of rate 1.5": lambda: ev.Poisson(1.5),
    "Poisson of rate -0.1": lambda: ev.Poisson(-0.1),
    "Poisson of rate NaN": lambda: ev.Poisson(math.nan),
    "WithoutReplacement of more than all": lambda: ev.WithoutReplacement(11, 10),
    "WithoutReplacement of nobody": lambda: ev.WithoutReplacement(0, 0),
    "WithReplacement of -1": lambda: ev.WithReplacement(-1, 10),
    "TruncatedPoisson to 0": lambda: ev.TruncatedPoisson(0.1, most=0, population=10),
    "Sampled by a number": lambda: ev.Sampled(ev.Laplace(1), 0.1),  # type: ignore[arg-type]
    "Shuffled without reports": lambda: ev.Shuffled(ev.Response(1), 0),
    "Tree of no steps": lambda: ev.Tree(1, steps=0),
    "Tree of branching 1": lambda: ev.Tree(1, steps=4, branching=1),
    "runs of shape -1": lambda: ev.TruncatedNegativeBinomial(-1, 0.5),
    "runs that never stop": lambda: ev.TruncatedNegativeBinomial(1, 0),
    "runs that stop at once": lambda: ev.TruncatedNegativeBinomial(1, 1),
    "no runs": lambda: ev.PoissonRuns(0),
    "RepeatAndSelect 10": lambda: ev.RepeatAndSelect(ev.Laplace(1), 10),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("make", BAD.values(), ids=BAD)
def test_bad_input_is_refused(make: Callable[[], object]) -> None:
    with pytest.raises(BadArgument, match="must be"):
        make()


@pytest.mark.parametrize("event", EXAMPLES, ids=lambda event: type(event).__name__)
def test_an_event_is_a_frozen_value(event: ev.Event) -> None:
    assert hash(event) == hash(event)
    assert event in {event}
    with pytest.raises(FrozenInstanceError):
        event.scale = 1  # type: ignore[attr-defined]


@pytest.mark.parametrize("base", [ev.Event, ev.Sampling, ev.Runs], ids=lambda base: base.__name__)
def test_every_class_has_an_example(base: type) -> None:
    shown: set[type] = set()
    waiting: list[ev.Event] = list(EXAMPLES)
    while waiting:
        event = waiting.pop()
        shown |= {type(event), type(getattr(event, "sampling", None)), type(getattr(event, "runs", None))}
        waiting.extend(parts_of(event))
    assert final_classes(base) <= shown


def test_numbers_are_read_as_they_are_written() -> None:
    assert ev.Gaussian(0.1).scale == Fraction(1, 10)
    assert ev.Poisson(0.01) == ev.Poisson(Fraction(1, 100))


def brute_tree_square(event: ev.Tree, *, completed: bool = False) -> int:
    """Tries every set of leaves that one unit may take part in, and counts at every node, or every completed one."""

    def patterns(first: int, left: int) -> list[tuple[int, ...]]:
        found: list[tuple[int, ...]] = [()]
        if left:
            for place in range(first, event.steps):
                found += [(place, *rest) for rest in patterns(place + event.separation, left - 1)]
        return found

    best = 0
    for chosen in patterns(0, event.participations):
        squares, width = 0, 1
        while True:
            blocks = [place // width for place in chosen]
            whole = {block for block in blocks if not completed or (block + 1) * width <= event.steps}
            squares += sum(blocks.count(block) ** 2 for block in whole)
            if width >= event.steps:
                break
            width *= event.branching
        best = max(best, squares)
    return best


@pytest.mark.parametrize("steps", [1, 2, 5, 8, 11])
@pytest.mark.parametrize("branching", [2, 3])
@pytest.mark.parametrize("separation", [1, 2, 3, 4])
def test_trees_are_bounded_and_exact_for_separations_that_fit(steps: int, branching: int, separation: int) -> None:
    for participations in (1, 2, 3, 4):
        tree = ev.Tree(1, steps=steps, participations=participations, separation=separation, branching=branching)
        true = brute_tree_square(tree)
        assert tree_square(tree) >= true
        if separation in (1, branching, branching**2):
            assert tree_square(tree) == true
        finished = brute_tree_square(tree, completed=True)
        assert finished <= tree_square(ev.CompletedNodes(tree)) <= tree_square(tree)
        if separation in (1, branching, branching**2):
            assert tree_square(ev.CompletedNodes(tree)) == finished
