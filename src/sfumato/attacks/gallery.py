"""The gallery: each protection that people invent, paired with the attack that defeats it, on made-up students."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, final

import numpy as np

from sfumato.attacks.anonymity import homogeneity
from sfumato.attacks.averaging import averaging
from sfumato.attacks.differencing import differencing
from sfumato.attacks.k_anonymity import Bands, Prefix, generalise
from sfumato.attacks.linkage import linkage
from sfumato.attacks.oracles import Oracle, Protection
from sfumato.attacks.protections import (
    aggregates_only,
    noised,
    offset,
    refusing,
    rounded,
    sampled,
    swapped,
    thresholded,
    without_columns,
)
from sfumato.attacks.result import Attack
from sfumato.attacks.singling_out import singling_out, stepping
from sfumato.attacks.tables import Rows, read_table
from sfumato.datasets import students
from sfumato.entropy import Entropy, system

KNOWN = ("school", "absences", "G3")
"""What an attacker knows of a student; the secret is whether the family is small."""

CLASS = 60
"""How many of the students are asked about where an attack asks many questions."""


@final
@dataclass(frozen=True)
class Defeat:
    """A protection and an attack that defeats it; `run` shows it."""

    name: str
    protection: Callable[..., Any]
    attack: Callable[..., Attack]
    demonstration: Callable[[Entropy], Attack]

    def run(self, entropy: Entropy | None = None) -> Attack:
        """Runs the attack on made-up students; the protections that draw at random draw from the entropy."""
        return self.demonstration(entropy or system())


@cache
def _people() -> Rows:
    table = read_table(students())
    numbers = tuple(f"S{place:03}" for place in range(len(table)))
    failed = tuple(int(grade) < 10 for grade in students().columns["G3"])
    return table.replaced({"number": numbers, "failed": failed})


def _bits() -> list[int]:
    return [int(family == "LE3") for family in _people().columns["famsize"][:CLASS]]


def _removed(entropy: Entropy) -> Attack:
    table = without_columns(_people(), "number")
    return linkage(table, _people(), on=KNOWN, truth=range(len(table)), against="column removal")


def _aggregated(entropy: Entropy) -> Attack:
    return singling_out(
        _people(),
        on=KNOWN,
        secret="famsize",
        value="LE3",
        curator=lambda bits: Oracle.protected(bits, aggregates_only(), against="aggregates only"),
    )


def _differenced(protection: Protection, against: str) -> Attack:
    curator = Oracle.protected(_bits(), protection, against=against)
    return differencing(curator, total=curator.ask(np.ones(CLASS, dtype=np.bool_)))


def _swapped(entropy: Entropy) -> Attack:
    table = swapped(without_columns(_people(), "number"), "absences", share="0.1", entropy=entropy)
    return linkage(table, _people(), on=KNOWN, truth=range(len(table)), against="swapping 10 %")


def _rounded(entropy: Entropy) -> Attack:
    return stepping(Oracle.protected(_bits(), rounded(5), against="rounding to 5"))


def _sampled(entropy: Entropy) -> Attack:
    table = sampled(_people(), share="0.5", entropy=entropy)
    places = {number: place for place, number in enumerate(_people().columns["number"])}
    there = _people().kept(places[number] for number in table.columns["number"])
    return linkage(table, there, on=KNOWN, truth=range(len(table)), against="a sample of half, those in it")


def _anonymised(entropy: Entropy) -> Attack:
    rules = {"school": Prefix(0), "famsize": Prefix(0), "absences": Bands(2, 5, 10)}
    table = generalise(_people(), 3, rules, suppress="0.02")
    return homogeneity(table, rules, sensitive="failed", against="3-anonymity")


def _noised(entropy: Entropy) -> Attack:
    bits = _bits()
    curator = Oracle.protected(bits, noised(2, entropy=entropy), against="unaccounted noise")
    alone = np.arange(CLASS) == bits.index(1)
    return averaging(lambda: curator.ask(alone), truth=1.0, repeats=400, baseline=0.5, against=curator.against)


GALLERY = (
    Defeat("column removal", without_columns, linkage, _removed),
    Defeat("aggregates only", aggregates_only, singling_out, _aggregated),
    Defeat("query refusal", refusing, differencing, lambda _: _differenced(refusing(5), "refusal below 5")),
    Defeat("minimum count", thresholded, differencing, lambda _: _differenced(thresholded(5), "counts below 5 as 0")),
    Defeat("fixed offset", offset, differencing, lambda _: _differenced(offset(7), "a fixed offset")),
    Defeat("swapping", swapped, linkage, _swapped),
    Defeat("rounding", rounded, stepping, _rounded),
    Defeat("random sampling", sampled, linkage, _sampled),
    Defeat("k-anonymity", generalise, homogeneity, _anonymised),
    Defeat("unaccounted noise", noised, averaging, _noised),
)
"""The protections, each with an attack that defeats it."""
