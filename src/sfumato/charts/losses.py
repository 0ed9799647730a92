"""Charts of what losses promise: profiles, the lines that make a trade-off curve, laws of the loss, and beliefs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from statistics import NormalDist
from typing import Any, Protocol

from sfumato.accounting.losses.bracket import Bracket
from sfumato.accounting.losses.measures import Approx, Pure
from sfumato.accounting.losses.profile import Profile
from sfumato.accounting.losses.trade_off import MissCurve, TradeOff, trade_off
from sfumato.accounting.meaning.attacker import Attacker, Tested
from sfumato.charts.canvas import (
    BLUE,
    HEIGHT,
    INK,
    MUTED,
    ORANGE,
    WIDTH,
    Chart,
    across,
    altair,
    finished,
    note,
    series,
    table,
    titled,
    upward,
    upward_log,
)
from sfumato.charts.curves import Row, short
from sfumato.charts.readings import STEPS, Points, lower_ends, misses_of, points_of, rates_of
from sfumato.errors import BadArgument
from sfumato.exact import Number, non_negative, positive, probability, rational, up

SQUARE = 400
"""Charts of probabilities against probabilities are as high as they are wide."""

WHOLE = 1e-6
"""Masses may add up to 1 but for this."""

LEAST = 1e-12
"""A δ below this is not drawn unless asked for: on a logarithmic axis it would push everything else aside."""


def profiles(
    curves: Mapping[str, Tested | Points], *, least: Number = LEAST, title: str = "How δ falls as ε grows"
) -> Chart:
    """Draws privacy profiles on a logarithmic axis; where δ is known between two bounds, a band shows both.

    A curve is a loss with a δ for every ε, or a mapping from some ε to their δ: numbers, or brackets as `PLD.delta`
    gives. Between two of them δ is at most the chord in exp(ε), and that is drawn. ``least`` is the smallest δ drawn.
    """
    alt = altair()
    floor = positive(least, "least")
    read_curves = {name: points_of(curve, floor, name) for name, curve in _named(curves).items()}
    ends = [_end(curve, floor) for curve in read_curves.values()]
    rows = [row for name, curve in read_curves.items() for row in _profile_rows(name, curve, max(ends), up(floor))]
    if not rows:
        raise BadArgument(
            "curves", f"one or more profiles by name, with some δ of at least {up(floor):g}", list(curves)
        )
    x = across("ε", domain=[0, max(row["x"] for row in rows)])
    y = upward_log("δ", [row[bound] for row in rows for bound in ("y", "low")])
    encodings = series(list(curves), dashed=True)
    source = alt.Chart(table("profiles", rows))
    band = source.mark_area(opacity=0.25, clip=True).encode(x=x, y=y, y2="low:Q", color=encodings["color"])
    lines = source.mark_line(strokeWidth=2.5, clip=True).encode(x=x, y=y, **encodings)
    chart = alt.layer(band, lines).properties(width=WIDTH, height=HEIGHT)
    return finished(titled(chart, title, subtitle="Each point (ε, δ) of a line is a promise that holds"))


def _named(curves: object) -> Mapping[str, Any]:
    """Reads what a chart takes by name."""
    if not isinstance(curves, Mapping) or not curves:
        raise BadArgument("what is drawn", "given by name, such as {'ε = 1': sf.Pure(1)}", curves)
    return curves


def _end(curve: Profile | Mapping[Fraction, Bracket], floor: Fraction) -> Fraction:
    """The ε up to which there is something to see."""
    if not isinstance(curve, Profile):
        return max(curve, default=Fraction(0))
    return Fraction(curve.epsilon(max(floor, curve.points[-1][1]))) or Fraction(1)


def _profile_rows(name: str, curve: Profile | Mapping[Fraction, Bracket], end: Fraction, floor: float) -> list[Row]:
    enclosed = {} if isinstance(curve, Profile) else curve
    if isinstance(curve, Profile):
        profile, low = curve, Fraction(0)
    elif curve:
        profile, low, end = Profile([(at, delta.upper) for at, delta in curve.items()]), min(curve), max(curve)
    else:
        return []
    # Towards a last corner at which δ is 0 a profile falls ever more steeply on a logarithmic axis.
    places = {profile.points[-1][0] - Fraction(1, 10**power) for power in range(1, 10)} | {*enclosed}
    places |= {low + (end - low) * step / STEPS for step in range(STEPS + 1)} | {place for place, _ in profile.points}
    drawn = sorted(place for place in places if low <= place <= end)
    heights = [up(profile.delta(place)) for place in drawn]
    known = all(bracket.width == 0 for bracket in enclosed.values())
    lows = heights if known else [min(ends) for ends in zip(heights, lower_ends(enclosed, drawn), strict=True)]
    return [
        {"series": name, "x": up(place), "y": height, "low": max(least, floor)}
        for place, height, least in zip(drawn, heights, lows, strict=True)
        if height >= floor
    ]


def trade_off_lines(
    curve: MissCurve | Tested,
    losses: Sequence[Pure | Approx],
    *,
    title: str = "A curve and the promises that make it",
) -> Chart:
    """Draws a trade-off curve, and below it what finitely many (ε, δ) promises say: the largest of their lines."""
    alt = altair()
    if not isinstance(losses, Sequence):
        raise BadArgument("losses", "a list of sf.Pure and sf.Approx losses", losses)
    names = ["the whole curve", f"{len(losses)} promise{'s' if len(losses) != 1 else ''} (ε, δ)"]
    together = trade_off(*losses)
    whole, corners = misses_of(curve, names[0])
    corners |= {alpha for part in (losses, *((loss,) for loss in losses)) for alpha, _ in TradeOff.of(*part).points}
    steps = rates_of(corners)
    rows = [
        {"series": name, "x": float(step), "y": misses(step)}
        for name, misses in zip(names, (whole, together), strict=True)
        for step in steps
    ]
    single = [
        {"line": place, "x": float(step), "y": trade_off(loss)(step)}
        for place, loss in enumerate(losses)
        for step in steps
    ]
    x, y = _alarms(), _misses()
    thin = alt.Chart(table("promises", single)).mark_line(strokeWidth=1, color=ORANGE, opacity=0.45)
    lines = alt.Chart(table("curves", rows)).mark_line(strokeWidth=2.5)
    layers = [
        thin.encode(x=x, y=y, detail="line:N"),
        lines.encode(x=x, y=y, **series(names, dashed=True, width=SQUARE)),
    ]
    chart = alt.layer(*layers).properties(width=SQUARE, height=SQUARE)
    return finished(titled(chart, title, subtitle="Thin: each promise by itself"))


def _alarms() -> Any:
    return across("false alarms", domain=[0, 1], padding=0).axis(labelFlush=False)


def _misses() -> Any:
    return upward("misses", domain=[0, 1])


class LossAtoms(Protocol):
    """A law of the privacy loss as a list of atoms, such as `Profile.pair` gives."""

    @property
    def atoms(self) -> Iterable[tuple[Number, Number]]:
        """Losses with their masses."""

    @property
    def infinite(self) -> Number:
        """The mass at infinite loss."""


def loss_masses(
    masses: LossAtoms | Iterable[tuple[Number, Number]],
    *,
    gaussian: Number | None = None,
    loss: Pure | None = None,
    title: str = "The distribution of the privacy loss",
) -> Chart:
    """Draws a privacy-loss distribution: a pair with its ``atoms`` and its ``infinite`` mass, or losses with masses.

    All masses add up to 1; the one at infinite loss is stated in words. ``gaussian=η``  lays the law of Gaussian
    noise over it, N(η, 2η); ``loss`` marks an ε and colours what lies beyond.
    """
    alt = altair()
    atoms = _law(masses)
    finite = [(at, mass) for at, mass in atoms if at < math.inf]
    epsilon = math.inf if loss is None else up(loss.epsilon)
    parts = ["loss at most ε", "loss above ε"]
    rows = [{"series": parts[at > epsilon], "x": at, "y": mass} for at, mass in finite]
    gaps = [right - left for (left, _), (right, _) in pairwise(finite)]
    width = min(gaps, default=1.0)
    fitted = [] if gaussian is None else _gaussian_rows(float(positive(gaussian, "gaussian")), finite, width)
    top = max(row["y"] for row in [*rows, *fitted])
    x, y = across("privacy loss", padding=14), upward("probability", top=top)
    colours = {"color": alt.value(BLUE)} if loss is None else series(parts)
    size = min(10.0, max(1.0, 0.8 * WIDTH * width / max(width, finite[-1][0] - finite[0][0])))
    layers = [alt.Chart(table("losses", rows)).mark_bar(size=size).encode(x=x, y=y, **colours)]
    if fitted:
        layers.append(alt.Chart(table("gaussian", fitted)).mark_line(color=INK, strokeWidth=1.5).encode(x=x, y=y))
    if epsilon < math.inf:
        rule = alt.Chart(table("epsilon", [{"x": epsilon}])).mark_rule(color=INK, strokeDash=[4, 3])
        layers += [rule.encode(x=x), note(f"ε = {short(epsilon)}", x=epsilon, y=top, name="epsilon_word")]
    chart = alt.layer(*layers).properties(width=WIDTH, height=HEIGHT)
    return finished(titled(chart, title, subtitle=_words(atoms, epsilon, gaussian)))


def _law(masses: object) -> list[tuple[float, float]]:
    """Reads losses and their masses, and refuses what is not a whole distribution: what is left out δ would miss."""
    pairs: object = masses
    if hasattr(masses, "atoms") and hasattr(masses, "infinite"):
        pairs = [*masses.atoms, (math.inf, masses.infinite)]
    if not isinstance(pairs, Iterable):
        raise BadArgument("masses", "pairs (loss, mass), or a pair such as profile.pair()", masses)
    try:
        atoms = sorted(
            (math.inf if at == math.inf else float(rational(at, "each loss")), float(non_negative(mass, "each mass")))
            for at, mass in pairs
        )
    except (TypeError, ValueError) as error:
        if isinstance(error, BadArgument):
            raise
        raise BadArgument("masses", "pairs (loss, mass), or a pair such as profile.pair()", masses) from None
    whole = math.fsum(mass for _, mass in atoms)
    if abs(whole - 1) > WHOLE:
        raise BadArgument(
            "masses", "such that they add up to 1; where some is at infinite loss, add (math.inf, pair.infinite)", whole
        )
    if all(at == math.inf for at, _ in atoms):
        raise BadArgument("masses", "pairs (loss, mass) of which some loss is finite", atoms)
    return [(at, mass) for at, mass in atoms if mass]


def _gaussian_rows(mean: float, finite: Sequence[tuple[float, float]], width: float) -> list[Row]:
    """N(η, 2η) as masses of cells of a width, over the range of the losses."""
    law = NormalDist(mean, math.sqrt(2 * mean))
    low, high = finite[0][0], finite[-1][0]
    places = [low + (high - low) * step / STEPS for step in range(STEPS + 1)]
    return [{"x": place, "y": width * law.pdf(place)} for place in places]


def _words(masses: Sequence[tuple[float, float]], epsilon: float, gaussian: Number | None) -> list[str]:
    sentences = []
    if gaussian is not None:
        sentences.append(
            f"Line: N(η, 2η) with η = {short(float(rational(gaussian, 'gaussian')))}, the law of Gaussian noise"
        )
    if epsilon < math.inf:
        beyond = sum(mass for at, mass in masses if at > epsilon)
        delta = sum(mass * -math.expm1(epsilon - at) for at, mass in masses if at > epsilon)
        sentences.append(f"P(loss > ε) = {beyond:.3g}; δ(ε) = {delta:.3g}")
    infinite = sum(mass for at, mass in masses if at == math.inf)
    return [*sentences, f"Infinite loss has mass {infinite:.3g}"] if infinite else sentences


def posteriors(
    losses: Mapping[str, Tested],
    *,
    false_alarms: Number = Fraction(1, 20),
    title: str = "What an alarm does to a suspicion",
) -> Chart:
    """Draws the largest belief after an alarm against the belief before, for tests with a rate of false alarms."""
    alt = altair()
    rate = probability(false_alarms, "the rate of false alarms")
    if rate == 0:
        raise BadArgument("the rate of false alarms", "greater than 0", false_alarms)
    after = {name: Attacker(loss).after_alarm(rate) for name, loss in _named(losses).items()}
    rows = [
        {"series": name, "x": float(prior), "y": up(belief(prior))}
        for name, belief in after.items()
        for prior in rates_of(())
    ]
    x = across("belief before the release", domain=[0, 1], padding=0).axis(labelFlush=False)
    y = upward("largest belief after an alarm", domain=[0, 1])
    same = alt.Chart(table("unchanged", [{"x": 0, "y": 0}, {"x": 1, "y": 1}]))
    lines = alt.Chart(table("beliefs", rows)).mark_line(strokeWidth=2.5)
    layers = [
        same.mark_line(color=MUTED, strokeDash=[2, 3]).encode(x=x, y=y),
        lines.encode(x=x, y=y, **series(list(losses), dashed=True, width=SQUARE)),
        note("nothing learned", x=0.6, y=0.55, name="unchanged_word", colour=MUTED),
    ]
    chart = alt.layer(*layers).properties(width=SQUARE, height=SQUARE)
    below = f"The best test that accuses {short(100 * rate)} % of the innocent"
    return finished(titled(chart, title, subtitle=below))
