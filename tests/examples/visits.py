"""A small catalog for tests of front ends: visits of people, their accounts and orders, and public sites."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, final

import sfumato as sf
from sfumato.query.answer.explanation import Explanation
from sfumato.query.build.settings import Settings
from sfumato.query.frame import Frame
from sfumato.query.nodes.catalog import Catalog
from sfumato.query.nodes.questions import Question
from sfumato.release.record import Release

SAID = {"source": "the book"}
COLUMNS: dict[str, Any] = {
    "user_id": {"type": "str"},
    "day": {"type": "date", "between": ["2024-01-01", "2024-12-31"], **SAID},
    "at": {"type": "time", "nullable": True},
    "site": {"categories": ["north", "south"], **SAID},
    "minutes": {"type": "float", "between": [0, 90], "nullable": True, **SAID},
    "pages": {"type": "int", "between": [0, 9], **SAID},
    "paid": {"type": "bool", "nullable": True},
    "note": {"type": "str", "nullable": True},
    "wait": {"type": "float"},
}
CATALOG = Catalog(
    sf.Codebook.read(
        {
            "codebook": 1,
            "title": "Visits",
            "created": "2026-01-10",
            "unit": {"protects": "a person", "id": "user_id"},
            "tables": {
                "visits": {"columns": COLUMNS},
                "accounts": {
                    "columns": {
                        "user_id": {"type": "str"},
                        "age": {"type": "int", "between": [0, 120], **SAID},
                        "home": {"type": "str"},
                    }
                },
                "sites": {
                    "public": True,
                    "columns": {"site": {"type": "str"}, "region": {"type": "str"}, "size": {"type": "int"}},
                },
            },
        }
    )
)


@final
@dataclass(frozen=True, eq=False)
class Recorder:
    """Is an asker that keeps what it was asked."""

    asked: list[tuple[str, Question, Settings]] = field(default_factory=list)

    def release(self, question: Question, settings: Settings) -> Release:
        self.asked.append(("release", question, settings))
        return None  # type: ignore[return-value]

    def explain(self, question: Question, settings: Settings) -> Explanation:
        self.asked.append(("explain", question, settings))
        return None  # type: ignore[return-value]


ASKER = Recorder()


def table(name: str) -> Frame:
    """Gives a table of the catalog as a frame."""
    return Frame(CATALOG.table(name), ASKER)
