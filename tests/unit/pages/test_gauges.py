"""What gauges draw of a limit."""

from __future__ import annotations

import pytest

import sfumato as sf
from sfumato.server.pages.views.amounts import gauge_of, part_of, slider_of, suggested


@pytest.mark.parametrize(
    ("limit", "spent", "left", "held", "gone", "reserved"),
    [
        (sf.Pure(4), sf.Pure(1), sf.Pure(3), None, 0.25, 0.25),
        (sf.Approx(4, "1e-6"), sf.Approx(0, 0), sf.Approx(2, "9e-7"), sf.Approx(2, "1e-7"), 0.0, 0.5),
        (sf.Approx(2, "1e-7"), sf.Approx("0.7", 0), sf.Approx("1.3", "5e-8"), None, 0.35, 0.35),
        (sf.ZCDP(2), sf.ZCDP("0.5"), sf.ZCDP("1.5"), None, 0.25, 0.25),
        (sf.Pure(1), sf.Pure(1), sf.Pure(0), None, 1.0, 1.0),
        (sf.Pure(0), sf.Pure(0), sf.Pure(0), None, 1.0, 0.0),
    ],
)
def test_gauges_draw_what_is_gone_and_what_is_set_aside(
    limit: sf.Loss, spent: sf.Loss, left: sf.Loss, held: sf.Loss | None, gone: float, reserved: float
) -> None:
    made = gauge_of(limit, spent, left, held)
    assert made.gone == pytest.approx(gone)
    assert made.reserved == pytest.approx(max(gone, reserved))


def test_kinds_that_cannot_be_compared_are_not_drawn() -> None:
    assert part_of(sf.ZCDP(1), sf.Pure(1)) is None
    assert gauge_of(sf.ZCDP(1), sf.Pure(1), sf.Pure(0)).gone is None


def test_sliders_end_with_all_that_is_left() -> None:
    slider = slider_of(sf.Approx("1.3", "1e-8"))
    assert slider is not None and (slider.name, slider.least, slider.most) == ("epsilon", "0.0013", "1.3")
    third = slider_of(sf.Pure(sf.Pure("0.6667").epsilon))
    assert third is not None and third.most == "0.66"  # never more than is left
    assert suggested(sf.ZCDP(2)) == {"rho": "0.2"}
    assert slider_of(sf.Pure(0)) is None and slider_of(None) is None and suggested(None) == {}
