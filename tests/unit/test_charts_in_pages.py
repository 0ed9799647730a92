"""Charts as they stand inside of a page: painted by the page, silent, and without anything that a policy forbids."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from sfumato.accounting.losses.measures import Pure
from sfumato.charts.canvas import BLUE, PAPER, drawing
from sfumato.charts.in_pages import for_page, icon_array, repainted
from sfumato.errors import BadArgument


def test_a_drawing_takes_its_colours_from_the_page_and_says_nothing() -> None:
    svg = for_page(icon_array(Pure(1)))
    assert svg.startswith("<svg ") and 'aria-hidden="true"' in svg
    assert f"var(--chart-blue, {BLUE})" in svg and f'fill="{BLUE}"' not in svg and f'fill="{PAPER}"' not in svg
    assert not re.search(r"style=|<style|<script|href=|font-family|role=|aria-label", svg)
    assert "What an analyst comes to believe" not in svg  # the page says it


def test_a_headline_stays_where_it_is_wanted() -> None:
    assert "What an analyst comes to believe" in for_page(icon_array(Pure(1)), headline=True)


def test_only_what_stands_in_tags_is_changed() -> None:
    words = 'fill="#0072b2" role="x"'
    svg = f'<svg width="10" height="10" viewBox="0 0 10 10"><text role="y" fill="#0072b2">{words}</text></svg>'
    assert repainted(svg).endswith(f'<text fill="var(--chart-blue, #0072b2)">{words}</text></svg>')


@pytest.mark.parametrize(("loss", "full"), [(Pure(1), 100), (Pure(0), 100), (Pure(20), 100)])
def test_the_full_dots_are_as_many_as_the_words_say(loss: Pure, full: int) -> None:
    chart = icon_array(loss).to_dict()
    counted: Counter[str] = Counter()
    for part in chart["hconcat"]:
        for layer in part["layer"]:
            counted[layer["data"]["name"]] += len(layer["data"]["values"])
    taking = counted["taking part, believed"]
    assert taking + counted["taking part, not believed"] == full
    assert counted["not taking part, believed"] == 100 - taking
    assert taking == {0: 50, 1: 73, 20: 100}[int(loss.epsilon)]
    assert "<svg" in drawing(icon_array(loss))


def test_what_is_no_loss_is_refused() -> None:
    with pytest.raises(BadArgument):
        icon_array(0.5)  # type: ignore[arg-type]
