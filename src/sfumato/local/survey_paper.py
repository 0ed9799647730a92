"""Sheets of paper for a survey by chance: what a respondent does with real coins or dice, in plain words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice, product
from typing import final

from sfumato.errors import BadArgument

MOST_COINS, MOST_DICE = 3, 2
"""More tosses or throws than these go wrong at a table."""

WORDS = {1: "one", 2: "two", 3: "three"}


@final
@dataclass(frozen=True)
class Throw:
    """A throw of coins (two sides) or dice (six) that makes a rational probability: so many of all outcomes."""

    sides: int
    count: int
    favourable: int

    @classmethod
    def making(cls, chance: Fraction) -> Throw:
        """Finds the fewest coins, or else dice, that make a probability.

        >>> Throw.making(Fraction(2, 3))
        Throw(sides=6, count=1, favourable=4)
        """
        for sides, most in ((2, MOST_COINS), (6, MOST_DICE)):
            for count in range(1, most + 1):
                share = chance * sides**count
                if share.denominator == 1 and 0 < share < sides**count:
                    return cls(sides, count, int(share))
        raise BadArgument(
            "the probability of the truth on paper",
            f"a multiple of 1/{2**MOST_COINS} (coins) or of 1/{6**MOST_DICE} (dice) between 0 and 1",
            str(chance),
        )

    @property
    def things(self) -> str:
        """Names what is thrown."""
        if self.sides == 2:
            return "a coin" if self.count == 1 else f"a coin, {WORDS[self.count]} times"
        return "a die" if self.count == 1 else f"a die, {WORDS[self.count]} times"

    @property
    def condition(self) -> str:
        """Says which outcomes are the favourable ones."""
        if self.sides == 2:
            return self._tosses()
        if self.count == 1:
            return "it shows 1" if self.favourable == 1 else f"it shows {self.favourable} or less"
        whole, rest = divmod(self.favourable, self.sides)
        parts = [] if whole == 0 else [f"the first throw shows {_at_most(whole)}"]
        parts += [f"the first throw shows {whole + 1} and the second {_at_most(rest)}"] if rest else []
        return ", or ".join(parts)

    def _tosses(self) -> str:
        if self.count == 1:
            return "it falls heads"
        listed = [
            " ".join(tosses) for tosses in islice(product(("heads", "tails"), repeat=self.count), self.favourable)
        ]
        return f"they fall, in this order, {'; or '.join(listed)}"


def sheet(question: str, *, truth: Fraction) -> str:
    """Writes the instructions for one respondent, as Markdown that reads well as plain text too."""
    throw = Throw.making(truth)
    reported, second = (1 + truth) / 2, "the coin" if throw.sides == 6 else "the coin once more"
    lie, factor = 1 - reported, reported / (1 - reported)
    needed = "A coin" if throw.sides == 2 else "A die and a coin"
    return f"""\
# A question that you can answer safely

> {question}

You need: {needed.lower()}, and a place where nobody sees what you throw. Tell nobody how it falls.

1. Throw {throw.things}. Is it so that {throw.condition}?
2. If so, answer the question **truthfully**.
3. If not, throw {second}, and let it answer for you: heads is **yes**, tails is **no**.
4. Tick one box, and nothing else. Answer once only.

    [ ] yes      [ ] no

Why this is safe: step 2 happens with probability {truth}, and nobody but you knows whether it did.
Of all people for whom the truth is no, {_number(lie)} tick yes, and as many of those for whom it is yes tick no.
Whatever you tick, you can say that it was the coin. Whoever sees it may change the odds of the truth by a
factor of {_number(factor)} at most. From all sheets together, the share of yes can be worked out all the same.
"""


MOST_ANSWERS = 6
"""A die has so many sides."""


def choice_sheet(question: str, answers: Sequence[str], *, truth: Fraction) -> str:
    """Writes the instructions for one respondent to a question with several answers, each a side of a die."""
    if len(answers) > MOST_ANSWERS:
        raise BadArgument(
            "the answers of a question on paper", f"at most {MOST_ANSWERS}, the sides of a die", len(answers)
        )
    throw, size = Throw.making(truth), len(answers)
    other = (1 - truth) / size
    factor = (truth + other) / other
    again = f" If it shows more than {size}, throw again." if size < MOST_ANSWERS else ""
    boxes = "\n".join(f"    [ ] {place}  {answer}" for place, answer in enumerate(answers, start=1))
    coins = throw.sides == 2
    needed, second = ("a coin and a die", "the die") if coins else ("a die", "the die once more")
    return f"""\
# A question that you can answer safely

> {question}

You need: {needed}, and a place where nobody sees what you throw. Tell nobody how it falls.

1. Throw {throw.things}. Is it so that {throw.condition}?
2. If so, answer the question **truthfully**.
3. If not, throw {second}, and let it answer for you: tick the answer with its number.{again}
4. Tick one box, and nothing else. Answer once only.

{boxes}

Why this is safe: step 2 happens with probability {truth}, and nobody but you knows whether it did.
Each answer that is not the truth is ticked with probability {_number(other)}. Whatever you tick, you can say
that it was the die. Whoever sees it may change the odds between two answers by a factor of {_number(factor)}
at most. From all sheets together, the share of each answer can be worked out all the same.
"""


def possible_on_paper() -> list[Fraction]:
    """All probabilities that a few coins or dice make."""
    most = ((2, MOST_COINS), (6, MOST_DICE))
    sizes = {sides**count for sides, longest in most for count in range(1, longest + 1)}
    return sorted({Fraction(part, size) for size in sizes for part in range(1, size)})


def _number(value: Fraction) -> str:
    """Writes a fraction with its decimals, a whole number without."""
    return str(value) if value.denominator == 1 else f"{value} ({float(value):.3g})"


def _at_most(number: int) -> str:
    return "1" if number == 1 else f"{number} or less"
