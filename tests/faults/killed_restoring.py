"""Brings a backup in, and is killed by SIGKILL at a point.

Run as a program, ``killed_restoring.py BACKUP FOLDER POINT POINT …``: a warm process forks for each of the points, with
a folder of its own. Prints a line of JSON for each kill.
"""

from __future__ import annotations

import json
import sys
from functools import partial
from pathlib import Path

from tests.faults.killed import Points, deadly_drivers
from tests.faults.killed_jobs import in_child

from sfumato.service.backups import restore
from sfumato.service.records import records_at


def bring(backup: str, book: str, kept: str, deadly: int, tell: object) -> None:
    """Brings the backup in, until it is killed at a point."""
    points = Points(deadly, tell)  # type: ignore[arg-type]
    deadly_drivers(points)
    records = records_at(f"sqlite:///{kept}")
    restore(Path(backup), f"sqlite:///{book}", records)
    tell(done=points.count)  # type: ignore[operator]


if __name__ == "__main__":
    folder, places = sys.argv[1], Path(sys.argv[2])
    for point in map(int, sys.argv[3:]):
        made = places / str(point)
        made.mkdir()
        told = in_child(partial(bring, folder, str(made / "book.db"), str(made / "records.db"), point))
        sys.stdout.write(json.dumps({"at": point, **told}) + "\n")
