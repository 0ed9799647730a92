"""Protections that people invent: none of them is differentially private, and an attack is known against each.

Those on tables take a table and give one. Those on answers change what a curator (`Oracle`) says about groups of
people; NaN is a refusal. The gallery (`sfumato.attacks.gallery`) pairs each with the attack that defeats it.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from sfumato.attacks.oracles import Answers, Groups, Protection, with_laplace
from sfumato.attacks.tables import Given, Rows, read_table
from sfumato.entropy import Entropy, system
from sfumato.errors import BadArgument
from sfumato.exact import Number, integer, nearest_whole, positive, probability, rational


def without_columns(table: Given, *names: str) -> Rows:
    """Removes columns, such as names and numbers that identify; linkage on the others defeats it."""
    held = read_table(table)
    gone = held.chosen(names, "the columns to remove")
    if len(gone) == len(held.names):
        raise BadArgument("the columns to remove", "fewer than all", gone)
    return Rows({name: column for name, column in held.columns.items() if name not in gone}, held.name)


def swapped(table: Given, column: str, *, share: Number, entropy: Entropy | None = None) -> Rows:
    """Exchanges the values of a column between pairs of rows, about a ``share`` of them; most links stay right.

    Every total over the whole table stays exact, so a departure shows in it as before.
    """
    held, source = read_table(table), entropy or system()
    cells = list(held.column(column))
    order = _draw_places(len(held), Fraction(len(held)) * probability(share, "share"), source)
    for first, second in zip(order[::2], order[1::2], strict=False):
        cells[first], cells[second] = cells[second], cells[first]
    return held.replaced({column: cells})


def sampled(table: Given, *, share: Number, entropy: Entropy | None = None) -> Rows:
    """Keeps a random sample of the rows; whoever is in it is as exposed as before."""
    held, source = read_table(table), entropy or system()
    return held.kept(sorted(_draw_places(len(held), Fraction(len(held)) * probability(share, "share"), source)))


def _draw_places(count: int, wanted: Fraction, source: Entropy) -> list[int]:
    """Draws different places, in random order; the number wanted is rounded."""
    places = list(range(count))
    for place in range(nearest_whole(wanted)):
        drawn = place + source.below(count - place)
        places[place], places[drawn] = places[drawn], places[place]
    return places[: nearest_whole(wanted)]


def aggregates_only() -> Protection:
    """Answers about groups only, and exactly; a group of one, or two groups that differ by one, defeat it."""
    return lambda groups, answers: answers


def refusing(k: int, *, empty: bool = True) -> Protection:
    """Refuses to speak of fewer than k people; of nobody too, unless ``empty`` is false. Differencing defeats it."""
    least = integer(k, "k", least=1)

    def protected(groups: Groups, answers: Answers) -> Answers:
        people = groups.sum(axis=1)
        return np.where((people < least) & ((people > 0) | empty), np.nan, answers)

    return protected


def thresholded(k: int) -> Protection:
    """Reports answers below k as 0; differencing defeats it."""
    least = integer(k, "k", least=1)
    return lambda groups, answers: np.where(answers >= least, answers, 0.0)


def offset(by: Number) -> Protection:
    """Adds the same secret number to every answer; it cancels in a difference."""
    shift = float(rational(by, "by"))
    return lambda groups, answers: answers + shift


def rounded(to: Number) -> Protection:
    """Rounds answers to the nearest multiple; groups that grow one by one step over a boundary, and defeat it."""
    step = float(positive(to, "to"))
    return lambda groups, answers: step * np.floor(answers / step + 0.5)


def noised(scale: Number, *, entropy: Entropy | None = None) -> Protection:
    """Adds fresh Laplace noise to every answer that is given and counts no loss; averaging repeats defeats it."""
    width = positive(scale, "scale")

    def protected(groups: Groups, answers: Answers) -> Answers:
        noisy, answered = np.full(len(answers), np.nan), ~np.isnan(answers)
        noisy[answered] = with_laplace(answers[answered], width, entropy)
        return noisy

    return protected
