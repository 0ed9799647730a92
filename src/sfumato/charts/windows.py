"""Charts of what a loss allows: windows of outcomes and losses, privacy-loss distributions and trade-off curves."""

from __future__ import annotations

import math
from collections.abc import Mapping

from sfumato.accounting.losses.measures import Approx, BoundedRange, Pure
from sfumato.accounting.losses.trade_off import MissCurve
from sfumato.accounting.meaning.attacker import Tested
from sfumato.charts.canvas import (
    BLUE,
    FONT,
    HEIGHT,
    INK,
    MUTED,
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
from sfumato.charts.curves import Row, label, loss_atoms, profile_point, short
from sfumato.charts.readings import misses_of, rates_of
from sfumato.errors import BadArgument
from sfumato.exact import integer, up
from sfumato.noise.distribution import Noise


def truncated_windows(noise: Noise, *, shift: int, title: str | None = None) -> Chart:
    """Draws bounded noise around two neighbours and colours the outcomes that only one of them can give.

    Those outcomes tell the neighbours apart with certainty; their mass is a δ below which no ε helps.
    """
    alt = altair()
    low, high = noise.support
    apart = integer(shift, "shift", least=1)
    if low is None or high is None:
        raise BadArgument("noise", "bounded on both sides, such as Truncated(noise, −r, r)", noise)
    kinds = ["possible on both", "possible on x only", "possible on x′ only"]
    rows: list[Row] = []
    for name, centre in (("data set x", 0), ("data set x′", apart)):
        for outcome in range(low + centre, high + centre + 1):
            alone = not low <= outcome - (apart - centre) <= high
            kind = kinds[0] if not alone else kinds[1] if centre == 0 else kinds[2]
            rows.append({"data": name, "series": kind, "x": outcome, "y": float(noise.pmf(outcome - centre))})
    alone_mass = sum(row["y"] for row in rows if row["series"] == kinds[1])
    size = min(12.0, 0.75 * WIDTH / (high - low + apart + 1))
    bars = alt.Chart(table("outcomes", rows)).mark_bar(size=size)
    x, y = across("outcome"), upward("probability", top=max(row["y"] for row in rows), ticks=4)
    encoded = bars.encode(x=x, y=y, **series(kinds)).properties(width=WIDTH, height=130)
    header = alt.Header(labelAngle=0, labelAlign="left", labelFontSize=13, labelFont=FONT, labelColor=INK)
    facets = encoded.facet(row=alt.Row("data:N", title=None, sort=None, header=header), spacing=14)
    headline = title or f"A share of {alone_mass:.3g} of the outcomes gives the data set away"
    return finished(titled(facets, headline, subtitle=f"Noise: {label(noise)}; neighbours {apart} apart"))


def range_windows(loss: BoundedRange, *, windows: int = 5, title: str | None = None) -> Chart:
    """Draws what bounded range says: the losses of all outcomes lie in one window of length η, wherever that lies.

    The bar on top is what pure privacy with the same number would allow: twice as wide.
    """
    alt = altair()
    width, count = up(loss.eta), integer(windows, "windows", least=2)
    rows = [{"window": f"pure, ε = {short(width)}", "kind": "pure", "low": -width, "high": width}]
    for place in range(count):
        high = width * (count - 1 - place) / (count - 1)
        rows.append({"window": f"t = {short(high)}", "kind": "range", "low": high - width, "high": high})
    order = [str(row["window"]) for row in rows]
    colour = alt.Color("kind:N", scale=alt.Scale(domain=["pure", "range"], range=[MUTED, BLUE]), legend=None)
    bars = (
        alt.Chart(table("windows", rows))
        .mark_bar(height=16, cornerRadius=4)
        .encode(
            x=across("privacy loss of an outcome", field="low", domain=[-1.05 * width, 1.05 * width]),
            x2="high:Q",
            y=alt.Y("window:N", sort=order, title=None, axis=alt.Axis(domain=False, ticks=False)),
            color=colour,
        )
    )
    zero = alt.Chart(table("zero", [{"x": 0}])).mark_rule(color=INK, strokeDash=[3, 3]).encode(x="x:Q")
    chart = alt.layer(bars, zero).properties(width=WIDTH, height=44 * len(rows))
    headline = title or f"Bounded range: one window of length η = {short(width)}"
    return finished(
        titled(chart, headline, subtitle="Each bar is where the losses of all outcomes may lie, [t − η, t]")
    )


def loss_distribution(noise: Noise, *, shift: int, loss: Pure | None = None, title: str | None = None) -> Chart:
    """Draws the distribution of the privacy loss between neighbours; past an ε it is coloured, and δ is computed."""
    alt = altair()
    epsilon = math.inf if loss is None else up(loss.epsilon)
    parts = ["loss at most ε", "loss above ε"]
    atoms = loss_atoms(noise, shift=integer(shift, "shift", least=1))
    finite = {value: mass for value, mass in atoms.items() if math.isfinite(value)}
    rows: list[Row] = [{"series": parts[value > epsilon], "x": value, "y": mass} for value, mass in finite.items()]
    top = max(finite.values())
    x, y = across("privacy loss", padding=14), upward("probability", top=top)
    encodings = series(parts) if loss is not None else {"color": alt.value(BLUE)}
    size = min(10.0, max(1.0, 0.8 * WIDTH / len(rows)))
    layers = [alt.Chart(table("losses", rows)).mark_bar(size=size).encode(x=x, y=y, **encodings)]
    below = [f"Noise: {label(noise)}; neighbours {shift} apart"]
    if loss is not None:
        rule = alt.Chart(table("epsilon", [{"x": epsilon}])).mark_rule(color=INK, strokeDash=[4, 3])
        layers += [rule.encode(x=x), note(f"ε = {short(epsilon)}", x=epsilon, y=top, name="epsilon_word")]
        lost = sum(mass for value, mass in atoms.items() if value > epsilon)
        delta = up(profile_point(noise, shift=shift, epsilon=loss.epsilon).delta)
        below.append(f"P(loss > ε) = {lost:.4g}; the least δ at this ε is {delta:.4g}")
    chart = alt.layer(*layers).properties(width=WIDTH, height=HEIGHT)
    return finished(titled(chart, title or "How often which loss is realised", subtitle=below))


def trade_offs(curves: Mapping[str, MissCurve | Tested], *, title: str = "No test can be below its curve") -> Chart:
    """Draws trade-off curves: the least share of misses for each share of false alarms, beside perfect privacy.

    A curve is a loss, or a function from false alarms to misses.
    """
    alt = altair()
    if not isinstance(curves, Mapping) or not curves:
        raise BadArgument("curves", "one or more trade-off curves by name, such as {'ε = 1': sf.Pure(1)}", curves)
    read_curves = {name: misses_of(curve, name) for name, curve in curves.items()}
    rows = [
        {"series": name, "x": float(rate), "y": misses(rate)}
        for name, (misses, corners) in read_curves.items()
        for rate in rates_of(corners)
    ]
    x = across("false alarms: share of tests that accuse wrongly", domain=[0, 1], padding=0).axis(labelFlush=False)
    y = upward("misses: share that fails to notice", domain=[0, 1])
    diagonal = alt.Chart(table("perfect", [{"x": 0, "y": 1}, {"x": 1, "y": 0}]))
    perfect = diagonal.mark_line(color=MUTED, strokeDash=[2, 3]).encode(x=x, y=y)
    lines = alt.Chart(table("curves", rows)).mark_line(strokeWidth=2.5)
    drawn_curves = lines.encode(x=x, y=y, **series(list(curves), dashed=True, width=400))
    word = note("perfect privacy", x=0.62, y=0.42, name="perfect_word", colour=MUTED)
    chart = alt.layer(perfect, drawn_curves, word).properties(width=400, height=400)
    return finished(titled(chart, title, subtitle="Telling two neighbours apart from one release"))


def per_query(
    losses: Mapping[str, Mapping[int, Pure | Approx]], *, title: str = "What each of k queries may cost"
) -> Chart:
    """Draws the loss that each of k queries may have under one total, for several ways of adding losses up."""
    alt = altair()
    rows: list[Row] = [
        {"series": way, "x": count, "y": up(loss.epsilon)}
        for way, by_count in losses.items()
        for count, loss in by_count.items()
    ]
    if not rows or any(not 0 < row["y"] < math.inf for row in rows):
        raise BadArgument("losses", "for each way, a positive finite loss for some numbers of queries", losses)
    x = across("number of queries k", type="log").axis(values=sorted({row["x"] for row in rows}), labelOverlap=True)
    y = upward_log("ε for each query", [row["y"] for row in rows])
    lines = alt.Chart(table("splits", rows)).mark_line(strokeWidth=2.5)
    chart = lines.encode(x=x, y=y, **series(list(losses), dashed=True)).properties(width=WIDTH, height=HEIGHT)
    return finished(titled(chart, title, subtitle="Same total; higher is better"))
