"""Singling out: questions that are about one person; refusals that tell; and groups that step over a boundary."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeAlias, final

import numpy as np

from sfumato.attacks.guessing import best_guess_rate, stated_baseline
from sfumato.attacks.oracles import Oracle, Values
from sfumato.attacks.reading import places
from sfumato.attacks.result import Attack, Success, Violation
from sfumato.attacks.tables import Cell, Given, Rows, matched, read_table, read_targets, shared_columns
from sfumato.errors import BadArgument
from sfumato.exact import Number, integer
from sfumato.release.progress import Progress, reporting

Curator: TypeAlias = Callable[[Values], Oracle]
"""Makes the curator of a column of secrets: `Oracle.exact`, one with a trick, or a private one."""


@final
@dataclass(frozen=True)
class Isolated:
    """What was concluded of one target: the row, the answer that it rests on (NaN: refused), and the conclusion."""

    row: int
    answer: float
    concluded: bool


def singling_out(
    table: Given,
    *,
    on: Iterable[str],
    secret: str,
    value: Cell = True,
    curator: Curator = Oracle.exact,
    most: int | None = None,
    progress: Progress | None = None,
) -> Attack:
    """Asks how many people with a target's description have a secret value: one or none, where the target is alone.

    Targets are the rows that the columns ``on`` tell apart from all others, the first ``most`` of them. Each meets a
    curator made anew, so that ``epsilon`` is what the answer about one target costs. A refusal says nothing, and the
    more common value is concluded. Where small groups are refused, `differencing` asks for large ones. The baseline is
    the share of the more common value in the whole table.

    >>> clinic = {"age": [31, 31, 40, 52], "smokes": [True, False, True, False]}
    >>> singling_out(clinic, on=["age"], secret="smokes").success
    Success(hits=2, trials=2)
    """
    held = read_table(table)
    secrets = _secrets(held, secret, value)
    targets = _alone(held, held.chosen(on, "on"), secret)[: None if most is None else integer(most, "most", least=1)]
    common, against, cases = bool(2 * secrets.sum() > len(secrets)), curator(secrets), []
    with reporting(progress, "singling out") as tell:
        for row in targets:
            answer = curator(secrets).ask(np.arange(len(secrets)) == row)
            cases.append(Isolated(row, answer, common if math.isnan(answer) else answer > 0.5))
            tell(len(cases), len(targets))
    return Attack(
        name="singling out",
        violation=Violation.RECONSTRUCTION,
        against=against.against,
        success=Success(sum(case.concluded == bool(secrets[case.row]) for case in cases), len(cases)),
        baseline=best_guess_rate(secrets),
        epsilon=against.epsilon,
        found=tuple(cases),
    )


def _secrets(held: Rows, secret: str, value: Cell) -> Values:
    wanted = matched(value)
    bits = np.array([matched(cell) == wanted for cell in held.column(secret)], dtype=np.int64)
    if not 0 < bits.sum() < len(bits):
        must = "a column that has the value in some rows and another in others: what holds for all is no secret"
        raise BadArgument("secret", must, secret)
    return bits


def _alone(held: Rows, on: tuple[str, ...], secret: str) -> list[int]:
    if secret in on:
        raise BadArgument("on", "what is known of targets, without the secret", on)
    rows = [rows[0] for rows in held.classes(on).values() if len(rows) == 1]
    if not rows:
        raise BadArgument("on", "columns that tell at least one row apart from all others", on)
    return rows


def refusals(
    table: Given,
    candidates: Given,
    *,
    on: Iterable[str] | None = None,
    curator: Curator = Oracle.exact,
    baseline: Number | None = None,
) -> Attack:
    """Learns who is in the data from refusals: where small groups are refused, a refusal says that somebody fits.

    Each candidate's description is asked for; a refusal or a count above one half is taken as presence. Each meets a
    curator made anew. ``baseline`` is how often somebody is right who never asked; unless given, it is to say of all
    candidates what is true of more of them, and one half for a single one.

    >>> from sfumato.attacks.protections import refusing
    >>> stubborn = lambda ones: Oracle.protected(ones, refusing(5, empty=False), against="refusal below 5")
    >>> refusals({"age": [31, 40]}, {"age": [31, 32, 33, 40]}, curator=stubborn).success
    Success(hits=4, trials=4)
    """
    held, people = read_table(table), read_targets(candidates, "candidates")
    shared = shared_columns(held, people, on)
    classes, ones = held.classes(shared), np.ones(len(held), dtype=np.int64)
    against, cases, there = curator(ones), [], []
    for place, key in enumerate(people.keys(shared)):
        group = np.zeros(len(held), dtype=np.bool_)
        group[list(classes.get(key, ()))] = True
        answer = curator(ones).ask(group)
        cases.append(Isolated(place, answer, math.isnan(answer) or answer > 0.5))
        there.append(bool(group.any()))
    return Attack(
        name="refusals",
        violation=Violation.MEMBERSHIP,
        against=against.against,
        success=Success(sum(case.concluded == here for case, here in zip(cases, there, strict=True)), len(cases)),
        baseline=stated_baseline(baseline, there, alone=0.5),
        epsilon=against.epsilon,
        found=tuple(cases),
    )


def stepping(oracle: Oracle, *, targets: Iterable[int] | None = None, progress: Progress | None = None) -> Attack:
    """Finds secret bits behind rounded answers: a group of others grows one by one, and is asked with the target too.

    Somewhere a rounded answer, or one that is 0 up to a threshold, steps over a boundary; with the target it does so
    earlier, if and only if the target's bit is 1. It takes 2 (n + 1) questions for each target of n people, and enough
    ones in the data to reach a boundary at all. The baseline is the more common bit of everybody.

    >>> from sfumato.attacks.protections import rounded
    >>> curator = Oracle.protected([1, 0, 1, 1, 0, 1, 0, 1, 1], rounded(5), against="rounding to 5")
    >>> stepping(curator).success
    Success(hits=9, trials=9)
    """
    people, secrets = len(oracle.secret), oracle.secret
    if not set(np.unique(secrets).tolist()) <= {0, 1}:
        raise BadArgument("the secrets", "bits, 0 or 1, for this attack", "other numbers")
    aims, cases = places(targets, people, "targets").tolist(), []
    with reporting(progress, "stepping") as tell:
        for row in aims:
            gain = _gain(oracle, row)
            cases.append(Isolated(row, gain, gain > 0))
            tell(len(cases), len(aims))
    return Attack(
        name="stepping over boundaries",
        violation=Violation.RECONSTRUCTION,
        against=oracle.against,
        success=Success(sum(case.concluded == bool(secrets[case.row]) for case in cases), len(cases)),
        baseline=best_guess_rate(secrets),
        epsilon=oracle.epsilon,
        found=tuple(cases),
    )


def _gain(oracle: Oracle, row: int) -> float:
    """By how much the target raises an answer at most, as a group of others grows."""
    people = len(oracle.secret)
    without = np.tri(people + 1, people, k=-1, dtype=np.bool_)
    without[:, row] = False
    with_target = without.copy()
    with_target[:, row] = True
    answers = oracle.ask_all(np.concatenate([with_target, without]))
    gains = answers[: people + 1] - answers[people + 1 :]
    return float(np.max(gains, where=~np.isnan(gains), initial=0.0))
