"""Losses as pages show them: gauges, the fields of forms, where sliders begin and end."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import ROUND_FLOOR
from fractions import Fraction
from typing import final

from sfumato.accounting.losses.concentrated import GDP
from sfumato.accounting.losses.measures import ZCDP, Approx, Loss, Pure
from sfumato.errors import BadArgument, SfumatoError
from sfumato.exact import decimal_of, rational_up, up
from sfumato.ledger.accounts import Account
from sfumato.service.asking import loss_from

KINDS: Mapping[type[Loss], str] = {Pure: "pure", Approx: "approx", ZCDP: "rho", GDP: "mu"}
FIELDS: Mapping[str, tuple[str, ...]] = {
    "pure": ("epsilon",),
    "approx": ("epsilon", "delta"),
    "rho": ("rho",),
    "mu": ("mu",),
    "any": ("epsilon", "delta", "rho", "mu"),
}
"""The fields of each kind; ``any`` where nobody has said which kind the limit is."""

LONGEST = 60
DIGITS = 2
WIDEST = 1000
"""How much more the upper end of a slider is than its lower one."""


@final
@dataclass(frozen=True)
class Gauge:
    """A limit as it stands: its texts, and the parts of it that are gone and that are gone or set aside.

    Where no theorem says how much of a limit something is, ``gone`` is None and nothing is drawn.
    """

    limit: str
    spent: str
    left: str
    held: str = ""
    gone: float | None = None
    reserved: float = 0.0


def gauge_of(limit: Loss, spent: Loss, left: Loss, held: Loss | None = None) -> Gauge:
    """Reads a gauge off a limit, what was spent of it, what is left, and what parts hold."""
    gone, free = part_of(spent, limit), part_of(left, limit)
    reserved = None if free is None else 1 - free
    if gone is None or reserved is None:
        drawn = reserved
    else:
        drawn = gone if held is not None else max(gone, reserved)
    return Gauge(
        str(limit),
        str(spent),
        left.str_down(),
        "" if held is None else str(held),
        drawn,
        max(drawn or 0.0, reserved or 0.0),
    )


def gauge_of_account(account: Account, left: Loss | None = None) -> Gauge:
    """Reads the gauge of an account; ``left`` where accounts above it leave less than it has itself."""
    return gauge_of(account.limit, account.spent, account.left if left is None else left, account.held)


def part_of(loss: Loss, limit: Loss) -> float | None:
    """How large a part of a limit a loss is, between 0 and 1, to be drawn; None of kinds that cannot be compared.

    Of (ε, δ) the part of ε is drawn; what is left of δ is said beside it.
    """
    match loss, limit:
        case Pure() | Approx(), Pure() | Approx():
            if limit.epsilon == 0 and isinstance(loss, Approx) and isinstance(limit, Approx):
                return _ratio(loss.delta, limit.delta)
            return _ratio(loss.epsilon, limit.epsilon)
        case ZCDP(), ZCDP():
            return _ratio(loss.rho, limit.rho)
        case GDP(), GDP():
            return _ratio(loss.mu, limit.mu) ** 2
    return None


def _ratio(part: object, whole: object) -> float:
    above, below = up(part), up(whole)  # type: ignore[arg-type]
    if below == 0:
        return 1.0
    ratio = 0.0 if math.isinf(below) else above / below
    return min(1.0, max(0.0, ratio)) if not math.isnan(ratio) else 1.0


@final
@dataclass(frozen=True)
class LossForm:
    """The fields of a loss as somebody filled them in, for a limit of one kind."""

    kind: str = "approx"
    epsilon: str = ""
    delta: str = ""
    rho: str = ""
    mu: str = ""
    required: bool = False
    errors: Mapping[str, str] = field(default_factory=dict)

    @staticmethod
    def of(fields: Mapping[str, str], errors: Mapping[str, str], kind: str = "any") -> LossForm:
        """Reads the fields as they are."""
        epsilon, delta, rho, mu = (fields.get(name, "").strip()[:LONGEST] for name in FIELDS["any"])
        return LossForm(kind, epsilon, delta, rho, mu, errors=errors)


def kind_of_limit(limit: Loss | None) -> str:
    """Which fields a loss has that a limit of this kind can count."""
    return KINDS.get(type(limit), "any") if limit is not None else "any"


def read_loss_fields(fields: Mapping[str, str], kind: str) -> tuple[Loss | None, dict[str, str]]:
    """Reads the loss of a form; None where nothing is filled in, and what is wrong by field."""
    given = {name: fields.get(name, "").strip() for name in FIELDS[kind]}
    said = {name: text for name, text in given.items() if text and not (name == "delta" and text in ("0", "0.0"))}
    if not said:
        return None, {}
    if "delta" in said and "epsilon" not in said:
        return None, {"epsilon": "Say an ε with the δ."}
    try:
        return loss_from(said), {}
    except BadArgument as refusal:
        return None, {_field_of(refusal.name, kind): f"This must be {refusal.must}."}
    except SfumatoError as refusal:
        return None, {FIELDS[kind][0]: str(refusal)}


def _field_of(name: str, kind: str) -> str:
    return name if name in FIELDS[kind] else FIELDS[kind][0]


def suggested(left: Loss | None) -> dict[str, str]:
    """A first loss for a form: about a tenth of what is left, in one digit."""
    slider = slider_of(left)
    return {} if slider is None else {slider.name: f"{float(slider.most) / 10:.1g}"}


@final
@dataclass(frozen=True)
class Slider:
    """A slider of a loss on a logarithmic scale: which field it writes into, and its ends."""

    name: str
    least: str
    most: str


def slider_of(left: Loss | None) -> Slider | None:
    """The slider up to what is left, in the few digits that sliders write; None where nothing is, or no number says."""
    match left:
        case Pure() | Approx():
            name, most = "epsilon", left.epsilon
        case ZCDP():
            name, most = "rho", left.rho
        case GDP():
            name, most = "mu", rational_up(left.mu)
        case _:
            return None
    if not 0 < most < math.inf:
        return None
    end = float(decimal_of(Fraction(most), DIGITS, ROUND_FLOOR))
    return Slider(name, f"{end / WIDEST:.{DIGITS}g}", f"{end:.{DIGITS}g}")
