"""What attacks on a live service share: the service, data with and without somebody, analysts, doubles, statistics.

A *double* is the same service, broken on purpose in one place. An attack that finds nothing against the service must
find it against a double: else the test could not fail.
"""

from __future__ import annotations

import http.client
import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.stats import binom
from sklearn.datasets import load_breast_cancer
from tests.unit.server.live import Live, listening
from tests.unit.server.world import MARKER, World, world_in

import sfumato as sf
from sfumato.errors import LimitReached
from sfumato.ledger.accounts import Account
from sfumato.noise.discrete_laplace import DiscreteLaplace
from sfumato.remote import RemoteSession
from sfumato.service.data_sets import Registration
from sfumato.service.people import TOKEN
from sfumato.service.rights import Grant

SURE = 1e-9
"""How seldom a sound service may be accused."""

ODD = 59.75
"""The minutes that the target alone has, in the made-up visits."""

WITH, WITHOUT = True, False
VISITS = {
    "codebook": 1,
    "title": "Visits",
    "unit": {"protects": "a person", "id": "person"},
    "tables": {
        "visits": {
            "columns": {
                "person": {"type": "str"},
                "minutes": {"type": "float", "between": [0, 60], "source": "the clock"},
                "answer": {"type": "int", "between": [0, 1], "source": "the form"},
                "note": {"type": "str"},
            }
        }
    },
}
PATIENTS = {
    "codebook": 1,
    "title": "Breast masses, Wisconsin (Wolberg, Street and Mangasarian 1993)",
    "unit": {"protects": "a patient", "id": "patient"},
    "tables": {
        "patients": {
            "columns": {
                "patient": {"type": "int"},
                "radius": {"type": "float", "between": [0, 40], "source": "the instrument"},
                "texture": {"type": "float", "between": [0, 60], "source": "the instrument"},
                "malignant": {"type": "int", "between": [0, 1], "source": "the form"},
            }
        }
    },
}


def visits(*, with_target: bool, people: int = 64) -> pl.DataFrame:
    """Made-up visits, one a person; the target's are odd in every column that can be asked about."""
    frame = pl.DataFrame(
        {
            "person": [f"p{number}" for number in range(people)],
            "minutes": [(7 * number) % 59 + number / 1_000 for number in range(people)],
            "answer": [(number * number) % 2 for number in range(people)],
            "note": [f"note {number}" for number in range(people)],
        }
    )
    target = pl.DataFrame({"person": ["target"], "minutes": [ODD], "answer": [1], "note": [f"{MARKER} {'a' * 2_000}"]})
    return pl.concat([frame, target]) if with_target else frame


def patients(*, with_target: bool) -> pl.DataFrame:
    """A table that nobody here made: 569 patients; the target is the one with the largest mass."""
    found = load_breast_cancer()
    frame = pl.DataFrame(
        {
            "patient": list(range(len(found.target))),
            "radius": found.data[:, 0],
            "texture": found.data[:, 1],
            "malignant": 1 - found.target,
        }
    )
    largest = frame["radius"].max()
    return frame if with_target else frame.filter(pl.col("radius") != largest)


@dataclass
class Target:
    """A service to attack: data sets with and without somebody, and analysts with shares as they are needed."""

    live: Live
    tables: dict[str, bool] = field(default_factory=dict)
    numbers: Iterator[int] = field(default_factory=itertools.count)

    @property
    def world(self) -> World:
        return self.live.world

    def register(self, name: str, frame: pl.DataFrame, book: dict[str, Any], limit: sf.Loss | None = None) -> None:
        """Registers a table as the curator would."""
        file = self.world.folder / f"{name}.parquet"
        frame.write_parquet(file)
        registration = Registration(name, str(file), sf.Codebook.read(book), limit or sf.Pure(10**6))
        self.world.house.data_sets.register(registration, by="cora")

    def analyst(self, *shares: tuple[str, object], role: str = "analyst") -> str:
        """Adds an analyst with shares of data sets; gives the name, under which there is a token."""
        name = f"t{next(self.numbers)}"
        house = self.world.house
        house.people.add(name, [Grant(role)])
        self.world.tokens[name] = house.people.issue(TOKEN, name).text
        for data_set, epsilon in shares:
            house.ledger.open_account(f"{data_set}/{name}", limit=sf.Pure(str(epsilon)), by="olga")
        return name

    @contextmanager
    def session(self, name: str, data_set: str) -> Iterator[RemoteSession]:
        """A session as a notebook has it."""
        with sf.connect(self.live.url, token=self.live.token(name), data_set=data_set) as session:
            yield session

    def sent(self, who: str | None, method: str, path: str, body: bytes | str | None = None, **headers: str) -> Any:
        """Sends a request over a socket of its own; what comes back has its body in ``octets``."""
        connection = http.client.HTTPConnection(self.live.address, self.live.port, timeout=60)
        said = {name.replace("_", "-"): value for name, value in headers.items()}
        if who is not None:
            said["authorization"] = f"Bearer {self.world.tokens.get(who, who)}"
        try:
            connection.request(method, path, body, said)
            answer = connection.getresponse()
            answer.octets = answer.read()  # type: ignore[attr-defined]
            return answer
        finally:
            connection.close()

    def spent(self, account: str) -> sf.Loss:
        return self.world.house.ledger[account].spent


@contextmanager
def target_in(folder: Path, **settings: Any) -> Iterator[Target]:
    """Serves both tables, each with and without its target."""
    with world_in(folder, **settings) as world, listening(world) as live:
        target = Target(live)
        for there in (WITH, WITHOUT):
            target.register(name_of("visits", there), visits(with_target=there), VISITS)
            target.register(name_of("patients", there), patients(with_target=there), PATIENTS)
        yield target


def name_of(table: str, there: bool) -> str:
    return f"{table}-{'with' if there else 'without'}"


# What the limit says, and whether somebody does better


def most_right(epsilon: float) -> float:
    """How often whoever has ε can tell which of two neighbours it is, both being as likely: e^ε / (1 + e^ε)."""
    import math

    return 1 / (1 + math.exp(-epsilon))


def does_better(right: int, trials: int, chance: float) -> bool:
    """Tells whether so many hits are more than a chance allows, and wrongly once in 10⁹ times."""
    return bool(binom.sf(right - 1, trials, chance) <= SURE)


def least_trials(chance: float) -> int:
    """How many trials show an attack that is always right."""
    return next(trials for trials in itertools.count(1) if does_better(trials, trials, chance))


# Doubles


@contextmanager
def patched(act: Callable[[pytest.MonkeyPatch], None]) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        act(patch)
        yield


MILLION = 10**6


def with_little_noise(patch: pytest.MonkeyPatch) -> None:
    """Noise has a millionth of the scale that was paid for."""
    one, many = DiscreteLaplace.sample, DiscreteLaplace.samples
    patch.setattr(DiscreteLaplace, "sample", lambda self, entropy: _little(one(self, entropy)))
    patch.setattr(DiscreteLaplace, "samples", lambda self, count, entropy: _little(many(self, count, entropy)))


def _little(drawn: Any) -> Any:
    return np.sign(drawn) * (abs(drawn) // MILLION) if isinstance(drawn, np.ndarray) else drawn // MILLION + (drawn < 0)


def without_limits(patch: pytest.MonkeyPatch) -> None:
    """Charges are written down, and no account is ever the poorer for one."""
    patch.setattr(Account, "paying", lambda self, cost: self)


def until_refused(session: RemoteSession, questions: list[str], **said: Any) -> list[sf.Release]:
    """Asks one after the other, until one is refused because the limit is reached."""
    answered = []
    for question in questions:
        try:
            answered.append(session.sql(question, **said))
        except LimitReached:
            break
    return answered
