"""Everything that is exported, under nasty neighbours: transformations, mechanisms, combinators and algorithms."""

from __future__ import annotations

import importlib
import pkgutil
import typing
from types import ModuleType

import pytest
from tests.examples.fuzzed import MEASUREMENTS, TRANSFORMATIONS, Subject

import sfumato as sf
import sfumato.transforms
from sfumato import stats
from sfumato.audit.fuzz import fuzz
from sfumato.audit.record import Verdict
from sfumato.core.partial import Partial
from sfumato.entropy import ReplayEntropy

BUILDERS = {"measurement", "calibrate", "calibrate_to_accuracy", "transformation"}
OF_POPULATIONS = {"amplified_by_known_sample"}  # tests/exact/test_sampling_wrappers.py
OF_STEPS = {"correlated_noise"}  # neighbours by steps: tests/exact/test_correlated_noise.py
COMPOSITORS = {"adaptive_composition", "concurrent_composition", "privacy_filter"}  # asked in "analysis"


def constructors(module: ModuleType, kind: type, *, own: bool = False) -> set[str]:
    """Finds what a module exports (or what is its own and public) that gives a component of a kind."""
    mine = [name for name, thing in vars(module).items() if getattr(thing, "__module__", "") == module.__name__]
    names = [name for name in mine if not name.startswith("_")] if own else module.__all__
    return {
        name
        for name in names
        if callable(thing := getattr(module, name))
        and not isinstance(thing, type)
        and typing.get_type_hints(thing).get("return") in (kind, Partial[kind])  # type: ignore[valid-type]
    }


def test_every_transformation_is_fuzzed() -> None:
    exported = (constructors(sf, sf.Transformation) | constructors(sf.transforms, sf.Transformation)) - BUILDERS
    assert exported <= {subject.name for subject in TRANSFORMATIONS}
    modules = [
        importlib.import_module(f"sfumato.transforms.{found.name}")
        for found in pkgutil.iter_modules(sfumato.transforms.__path__)
    ]
    own = {name for module in modules for name in constructors(module, sf.Transformation, own=True)}
    assert own - {"rowwise", "aggregates"} <= {subject.name for subject in TRANSFORMATIONS}


def test_every_measurement_is_fuzzed() -> None:
    homes = (sf, stats, sf.mechanisms, sf.combinators, sf.textbook)
    exported = set().union(*(constructors(home, sf.Measurement) for home in homes))
    fuzzed = {subject.name for subject in MEASUREMENTS}
    assert exported - BUILDERS - OF_POPULATIONS - COMPOSITORS - OF_STEPS <= fuzzed


def survives(subject: Subject, tries: int, seed: int) -> None:
    audit = fuzz(subject.build(), tries=tries, d_in=subject.d_in, entropy=ReplayEntropy(seed))
    assert audit.verdict is not Verdict.VIOLATED, (audit.faults, audit.witness and audit.witness.event[:2000])


@pytest.mark.parametrize("name", sorted({subject.name for subject in TRANSFORMATIONS}))
def test_transformations_keep_their_maps(name: str) -> None:
    for place, subject in enumerate(subject for subject in TRANSFORMATIONS if subject.name == name):
        survives(subject, 12, place)


@pytest.mark.parametrize("name", sorted({subject.name for subject in MEASUREMENTS}))
def test_measurements_keep_their_losses(name: str) -> None:
    for place, subject in enumerate(subject for subject in MEASUREMENTS if subject.name == name):
        survives(subject, 5, place)
