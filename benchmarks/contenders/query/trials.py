"""Reports how wrong answers are, on average over several; it is imported in every contender's environment."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from contenders.query.cases import Array, Size, errors
from side_by_side.stopwatch import report


def report_errors(size: Size, folder: Path, answer: Callable[[], dict[str, Array]], *, times: int) -> None:
    """Asks several times and reports the mean absolute error of every measure."""
    truth = dict(np.load(size.truth(folder)))
    found = [errors(answer(), truth) for _ in range(times)]
    for measure, to in found[0]:
        error = float(np.mean([each[measure, to] for each in found]))
        report(measure, kind="error", size=size.name, to=to, error=error)
