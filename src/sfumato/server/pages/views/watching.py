"""How the service runs, on a page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from sfumato.service.administrators import State


@final
@dataclass(frozen=True)
class StateView:
    """The page of how the service runs."""

    facts: tuple[tuple[str, str], ...]
    last: str
    jobs: tuple[tuple[str, int], ...]
    workers: tuple[tuple[str, str], ...]
    wrong: tuple[str, ...]
    careful: tuple[str, ...]


def state_view(state: State) -> StateView:
    """Reads how the service runs."""
    facts = (
        ("Version", state.version),
        ("Book", state.book),
        ("Entries", f"{state.entries:,}"),
        ("People", f"{state.people:,}"),
        ("Data sets", f"{state.data_sets:,}"),
    )
    wrong = tuple(one.removeprefix("wrong: ") for one in state.faults if one.startswith("wrong: "))
    careful = tuple(one.removeprefix("careful: ") for one in state.faults if not one.startswith("wrong: "))
    workers = tuple(sorted(state.workers.items()))
    return StateView(facts, state.last_entry, tuple(sorted(state.jobs.items())), workers, wrong, careful)
