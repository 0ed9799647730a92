"""A plan as code to paste: Python that asks every statistic in order, each at most once."""

from __future__ import annotations

from decimal import ROUND_FLOOR, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

from sfumato.accounting.losses.measures import Loss
from sfumato.exact import Extended, decimal_of, rational_up
from sfumato.query.nodes.keysets import KeySet

if TYPE_CHECKING:
    from sfumato.planning.record import Plan, Step

LONGEST = 40
"""Decimals with more digits are written as quotients."""


def code_of(plan: Plan, *, data: str, codebook: str, ledger: str, period: str = "", label: str = "") -> str:
    """Writes Python that opens a session with the limit of the plan and asks its statistics."""
    renewed = f", period={period!r}" * bool(period)
    lines = [
        "import sfumato as sf",
        "",
        f"data = sf.Dataset({data!r}, codebook={codebook!r})",
        f"session = data.session(limit={loss_code(plan.limit)}, ledger={ledger!r}{renewed})",
        "",
        *(line for step in plan.steps for line in _step_lines(step, label)),
    ]
    return "\n".join(lines) + "\n"


def _step_lines(step: Step, label: str) -> list[str]:
    given = [repr(step.sql), *([repr(step.parameters)] if step.parameters else [])]
    given += [f"{name}={_written(value)}" for name, value in step.arguments(label).items()]
    return ["session.sql(", *(f"    {one}," for one in given), ")"]


def _written(value: object) -> str:
    if isinstance(value, Loss):
        return loss_code(value)
    if isinstance(value, KeySet):
        return f"sf.KeySet.rows({list(value.names)!r}, {list(value)!r})"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name!r}: {_written(one)}" for name, one in value.items()) + "}"
    return repr(value) if isinstance(value, int | str) else repr(str(value))


def loss_code(loss: Loss) -> str:
    """A loss as it is written in Python, exactly.

    >>> from sfumato.accounting.losses.measures import Approx, Pure
    >>> loss_code(Pure("1/3")), loss_code(Approx("0.3", 1e-6))
    ("sf.Pure('1/3')", "sf.Approx('0.3', '0.000001')")
    """
    amounts = ", ".join(repr(_decimal(rational_up(value))) for value in vars(loss).values())
    return f"sf.{type(loss).__name__}({amounts})"


def _decimal(value: Extended) -> str:
    """A number as a decimal, where it is one, or else as a quotient."""
    near = Decimal(0) if value == 0 else decimal_of(Fraction(value), LONGEST, ROUND_FLOOR)
    return f"{near:f}" if Fraction(near) == value else str(value)
