"""How long work shows that it goes on: one shape for all of it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

Progress: TypeAlias = Callable[[int, int], None]
"""Takes how many steps are done, and of how many."""


@contextmanager
def reporting(progress: Progress | None, what: str) -> Iterator[Progress]:
    """Yields what to call with progress: what the caller passed, a bar on a terminal, or nothing.

    >>> with reporting(None, "counting") as tell:
    ...     tell(1, 2)
    """
    if progress is not None:
        yield progress
    elif sys.stderr.isatty():
        with _bar(what) as tell:
            yield tell
    else:
        yield lambda done, steps: None


@contextmanager
def _bar(what: str) -> Iterator[Progress]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, steps: bar.update(task, completed=done, total=steps)
