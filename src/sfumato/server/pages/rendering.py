"""Templates: where they are, what they may use, and how texts that people wrote stand in them.

Everything is escaped; a template is a file of the package and never a text from somewhere else. What people wrote goes
through `said`, which puts it on one line of its own direction, with letters that steer or hide shown as their codes.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from sfumato.release.render.words import clean
from sfumato.server.pages.assets import Assets

LONGEST, BRIEF = 4_000, 400
"""Letters of a text that somebody wrote that one place of a page shows, at most; and that one cell of a list does."""

RAISED = str.maketrans("0123456789+-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻")
POWER = re.compile(r"(?<![\w.])([0-9]+(?:\.[0-9]+)?)e([+-]?)0*([0-9]+)(?![\w.])")
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def environment(assets: Assets) -> Environment:
    """Makes the environment of all templates: with escaping, and without names that nobody has set."""
    made = Environment(
        loader=PackageLoader("sfumato.server.pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.globals["asset"] = assets.address
    made.filters |= {
        "said": said,
        "plain": plain,
        "brief": lambda text: clean(text, most=BRIEF),
        "loss": loss_words,
        "moment": moment,
        "capitalize_first": lambda text: text[:1].upper() + text[1:],
    }
    return made


def said(text: object) -> Markup:
    """Writes a text that somebody wrote, in a direction of its own."""
    return Markup(f"<bdi>{escape(plain(text))}</bdi>")


def plain(text: object) -> str:
    """A text that somebody wrote, for an attribute: on one line, and not without end."""
    return clean(text, most=LONGEST)


def loss_words(text: object) -> Markup:
    """Writes numbers as people do: 1e-08 as 10⁻⁸, with the rest escaped.

    >>> print(loss_words("ε = 1, δ = 2.5e-07"))
    ε = 1, δ = 2.5 × 10⁻⁷
    """
    return Markup(POWER.sub(_power, str(escape(text))))


def _power(number: re.Match[str]) -> str:
    factor, sign, exponent = number.groups()
    power = "10" + (("-" if sign == "-" else "") + exponent).translate(RAISED)
    return power if factor in ("1", "1.0") else f"{factor} × {power}"


def moment(text: object) -> Markup:
    """Writes a moment for people and for machines; one that cannot be read stays as it is."""
    try:
        when = text if isinstance(text, datetime) else datetime.fromisoformat(str(text))
    except ValueError:
        return said(text)
    there = when.astimezone(UTC) if when.tzinfo else when
    shown = f"{there.day} {MONTHS[there.month - 1]} {there.year}, {there:%H:%M}"
    return Markup(f'<time datetime="{escape(there.isoformat(timespec="seconds"))}">{shown}</time>')


def render(templates: Environment, name: str, **context: Any) -> str:
    """Writes a page or a part of one."""
    return templates.get_template(name).render(**context)
