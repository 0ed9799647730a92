"""What synthetic data is good for and what not, in plain words, from what was measured and how noisy that was."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

from sfumato.synth.columns import BinnedColumn
from sfumato.synth.counting import Columns
from sfumato.synth.intervals import never_together
from sfumato.synth.noise_errors import NoiseError, NoiseErrors
from sfumato.synth.synthetic import Synthetic
from sfumato.synth.workloads import Clique

GOOD, BAD = 0.1, 0.3
"""Tables off by at most the first share of rows are called good; those off by more than the second may be noise."""

LISTED = 12
"""So many tables or pairs are named; of the others, how many there are."""

NO_PERSON = (
    "No row is a person. One that equals somebody's came of noisy counts and of chance: what all rows together tell "
    "of anybody is bounded by the loss above."
)
PLAIN = (
    "Tests and intervals that take rows for people are too narrow: they do not know of the noise. Use .interval(), "
    "which does."
)


def good_for(synthetic: Synthetic, errors: NoiseErrors | None, workload: Mapping[Clique, float] | None) -> list[str]:
    """Sentences on what may be trusted, and how far."""
    if errors is None:
        return []
    told = [_within(each) for each in _largest(errors.errors) if each.high <= GOOD]
    more = len(told) - LISTED
    told = [*told[:LISTED], *([f"and {more} more tables: see the list of errors"] if more > 0 else [])]
    for clique in workload or {}:
        known = bound_of(errors, clique)
        if known is not None and all(set(clique) != set(each.columns) for each in errors.errors):
            told.append(
                f"{' × '.join(clique)}, as a part of {' × '.join(known.columns)}: {_share(known.high)} of rows at most"
            )
    told.append("Anything that is computed from these tables: shares, means, comparisons of groups.")
    return (
        told if len(told) > 1 else ["Code that is to run on the real table later: columns, types and values are right."]
    )


def bad_for(synthetic: Synthetic, errors: NoiseErrors | None, workload: Mapping[Clique, float] | None) -> list[str]:
    """Sentences on what may not be trusted."""
    told = []
    if errors is not None:
        noisy = [each for each in errors.errors if each.high > BAD]
        if noisy:
            told.append(
                f"Noise may have moved more than {BAD:.0%} of rows in {_named([one.columns for one in noisy])}."
            )
        told.append(_rare(synthetic, errors))
        told += _guessed(synthetic, workload)
    else:
        told.append("Nothing was measured as a table of counts, so no error is known: hold it against a public table.")
    binned = [one.name for one in synthetic.schema.columns if isinstance(one, BinnedColumn)]
    if binned:
        told.append(f"Values within a bin are drawn evenly and say no more than the bin: {', '.join(binned[:LISTED])}.")
    return [*told, PLAIN, NO_PERSON]


def bound_of(errors: NoiseErrors, columns: Sequence[str]) -> NoiseError | None:
    """The measured table with the least error that has all of some columns: summing cells up makes no error larger."""
    holding = [each for each in errors.errors if set(columns) <= set(each.columns)]
    return min(holding, key=lambda each: each.high, default=None)


def _guessed(synthetic: Synthetic, workload: Mapping[Clique, float] | None) -> list[str]:
    """Names what the model guesses: pairs that were never measured together, and tables of the workload."""
    measured = [one.columns for one in synthetic.measured]
    pairs, told = never_together(synthetic.columns, measured), []
    if pairs:
        every = len(list(combinations(synthetic.columns, 2)))
        told.append(
            f"{len(pairs)} of {every} pairs of columns were never measured together; how they hang together is a guess "
            f"of the model: {_named(pairs)}."
        )
    held = [set(one) for one in measured]
    missing = [clique for clique in workload or {} if len(clique) > 1 and not any(set(clique) <= one for one in held)]
    if missing:
        told.append(f"Of the workload, no measured table holds {_named(missing)}: these are guesses too.")
    return told


def _rare(synthetic: Synthetic, errors: NoiseErrors) -> str:
    rows = [each.blur * synthetic.model.total for each in errors.errors]
    least, most = (f"{value:,.0f}" for value in (min(rows), max(rows)))
    many = least if least == most else f"{least} to {most}"
    return (
        f"Combinations that fewer than about {many} rows have are below the noise: do not count or look for rare cases."
    )


def _largest(errors: Sequence[NoiseError]) -> list[NoiseError]:
    """Tables that are in no other one with as small an error, those of most columns first."""
    kept = [
        one
        for one in errors
        if not any(set(one.columns) < set(other.columns) and other.high <= one.high for other in errors)
    ]
    best: dict[frozenset[str], NoiseError] = {}
    for one in kept:
        seen = best.get(frozenset(one.columns))
        best[frozenset(one.columns)] = one if seen is None or one.high < seen.high else seen
    return sorted(best.values(), key=lambda one: (-len(one.columns), one.high))


def _within(one: NoiseError) -> str:
    off = f"at most {_share(one.high)} of rows are in a wrong cell, and no cell is off by more than {_share(one.cell)}"
    return f"{' × '.join(one.columns)}: {off}"


def _named(tables: Sequence[Columns]) -> str:
    more = len(tables) - LISTED
    named = ", ".join(" × ".join(each) for each in tables[:LISTED])
    return f"{named} and {more} more" if more > 0 else named


def _share(value: float) -> str:
    return f"{value:.2%}" if value < 0.01 else f"{value:.1%}"
