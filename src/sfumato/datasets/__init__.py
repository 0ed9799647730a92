"""Small data that travels with the package, for demonstrations and tests. None of it is about real people.

`visits`, `browser_logs`, `hospital_visits`, `asylum`, `students`, `history101` and `computer_science101` are made up
when they are asked for, the same for the same seed, each with its codebook.

`deployments` holds facts from the OpenDP deployments registry, Copyright (c) 2025 OpenDP, MIT License.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from importlib.resources import files
from typing import final

import numpy as np
from numpy.typing import NDArray

from sfumato.codebook import Codebook
from sfumato.datasets.asylum import asylum
from sfumato.datasets.browser_logs import browser_logs
from sfumato.datasets.hospital import hospital_visits
from sfumato.datasets.making import MadeUp, read_book
from sfumato.datasets.students import computer_science101, history101, students
from sfumato.datasets.visits import visits
from sfumato.release.registry import RegistryEntry

__all__ = [
    "CLASSROOM",
    "Classroom",
    "MadeUp",
    "asylum",
    "browser_logs",
    "computer_science101",
    "deployments",
    "history101",
    "hospital_visits",
    "portrait",
    "students",
    "visits",
]


@final
@dataclass(frozen=True)
class Classroom:
    """An exam in a class. Scores are private; their range and the roll of the class, and so its size, are public."""

    scores: tuple[int, ...]
    between: tuple[int, int]
    leaves: str

    @property
    def after(self) -> tuple[int, ...]:
        """The scores once the last student on the roll has left."""
        return self.scores[:-1]

    @property
    def departed(self) -> int:
        return self.scores[-1]

    @property
    def codebook(self) -> Codebook:
        return read_book("classroom")


CLASSROOM = Classroom(scores=(85, 84, 85, 89, 92, 95, 100, 83, 70, 67), between=(0, 100), leaves="Ari")
"""A class with mean 85, and 87 once Ari has left."""


def portrait() -> NDArray[np.bool_]:
    """Loads a portrait of 147 rows of 116 pixels, true where there is ink.

    >>> portrait().shape
    (147, 116)
    """
    rows = files("sfumato.datasets").joinpath("portrait.txt").read_text(encoding="ascii").split()
    return np.array([[letter == "#" for letter in row] for row in rows])


def deployments() -> tuple[RegistryEntry, ...]:
    """Lists 41 deployments of differential privacy with their parameters, to compare with.

    >>> [float(found.number("epsilon")) for found in deployments() if found.curator == "LinkedIn"]
    [34.9, 4.8]
    """
    text = files("sfumato.datasets").joinpath("deployments.csv").read_text(encoding="utf-8")
    _, *lines = text.splitlines()  # the first line says where the facts are from
    return tuple(RegistryEntry(**row) for row in csv.DictReader(lines))
