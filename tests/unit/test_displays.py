"""What notebooks and prompts show of things that people hold in their hands."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import sfumato as sf
from sfumato.release.render.displayed import MEDIA, Displayed

BOOK = {
    "codebook": 1,
    "title": "An <exam>",
    "unit": {"protects": "a student"},
    "tables": {
        "scores": {
            "contributions": {"rows": 1, "source": "one sheet each"},
            "columns": {
                "points": {"type": "int", "between": [0, 100], "source": "the sheet", "nullable": False},
                "grade": {"type": "categories", "categories": list("ABCDEFGHIJKLMN"), "source": "the rules"},
            },
        }
    },
}
SECRET = 73


def session() -> sf.Session:
    data = {"points": np.array([SECRET] * 5), "grade": np.array(["A"] * 5)}
    return sf.Dataset(data, name="exam", codebook=BOOK).session(limit=sf.Pure(2), ledger="memory:")


THINGS: dict[str, Callable[[sf.Session], Displayed]] = {
    "session": lambda s: s,
    "dataset": lambda s: s.dataset,
    "codebook": lambda s: s.dataset.codebook,  # type: ignore[return-value]
    "overview": lambda s: s.overview(),
    "ledger": lambda s: s.ledger,
    "explanation": lambda s: s.explain(s.dataset.space >> sf.count() >> sf.laplace(scale=2)),
}


@pytest.mark.parametrize("name", THINGS)
def test_everything_shows_itself_in_every_form(name: str) -> None:
    shown = THINGS[name](session())
    bundle = shown._repr_mimebundle_()
    assert set(bundle) == set(MEDIA)
    assert bundle["text/html"] == shown._repr_html_() == shown.to_html()
    assert bundle["text/plain"] == str(shown) and bundle["text/markdown"] == shown.to_markdown()
    assert "<exam>" not in bundle["text/html"] and "<script" not in bundle["text/html"]
    assert set(shown._repr_mimebundle_(include=["text/html"])) == {"text/html"}
    assert set(shown._repr_mimebundle_(exclude=["text/html"])) == set(MEDIA) - {"text/html"}
    assert str(SECRET) not in "".join(bundle.values()) + repr(shown)


def test_what_is_shown_is_what_one_wants_to_know() -> None:
    asked = session()
    asked.run(asked.dataset.space >> sf.count() >> sf.laplace(scale=2))
    text = str(asked)
    assert text.startswith("exam: ε = 0.5 of ε = 2 spent, for a student\n") and "left   ε = 1.5" in text
    assert "points  int" in text and "[0, 100]" in text and "A, B, C, D, E, F, G, H, I, J, K, L, …" in text
    assert repr(asked) == "Session(exam: ε = 0.5 of ε = 2 spent, for a student)"
    assert "exam     ε = 2  ε = 0.5  open" in str(asked.ledger)
    assert repr(asked.dataset.codebook).startswith("An <exam>: protects a student")
    assert len(repr(asked.dataset.codebook)) < 1000
