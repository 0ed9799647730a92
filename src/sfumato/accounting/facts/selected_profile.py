"""What the best of a random number of runs costs by the whole profile of one run: one (ε, δ) for each δ."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from sfumato.accounting.events import Event, PoissonRuns, TruncatedNegativeBinomial
from sfumato.accounting.facts.repeat_and_select import some_bad
from sfumato.accounting.losses.piecewise_linear import Corners, height
from sfumato.accounting.losses.pld import PLD
from sfumato.accounting.losses.profile import Profile
from sfumato.accounting.losses.profile_points import Promise, coarse
from sfumato.accounting.losses.trade_off import corners_of
from sfumato.accounting.tables import Total, selector
from sfumato.errors import BadArgument
from sfumato.exact import Extended, ball, log_up, lower, up, upper
from sfumato.guarantee import guarantee

Laws = TruncatedNegativeBinomial | PoissonRuns
"""The laws of the number of runs."""

POWERS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 20)
"""A selection is stated where its δ is one tenth to each of these powers."""

HALVINGS = (2, 4, 6, 8, 11, 14, 20)
"""The trade-off curve of one run is looked at where its δ is one half to each of these powers."""

ROUGH = 1e-3
"""How wide the brackets of one run may be, relatively: many are asked for."""

CUT = Fraction(1, 4)
"""The share of δ that may be spent on runs that all fall short of a rank, where their number is Poisson."""

WORTH = Fraction(15, 16)
"""A cut is used where it makes the growth smaller than this share of it."""

SHY = 1 - 1e-9
"""What floats choose is taken this much too small, so that what is certified of it stays within what was wanted."""

Ask = Callable[[Fraction], Extended]
"""The ε of one run at a δ."""


@guarantee(
    claim="ln of the largest f'(q) / f'(q'), q and q' the chances of a test that fails with chance at most `reach`: "
    "(1 + shape) ln((stop + (1 - stop) p') / (stop + (1 - stop) p)), or mean (p' - p), p' = 1 - misses(p)",
    proof="proofs/repeat_and_select.md#profile",
    reviewed="f9472c7e9ec2",
)
def largest_growth(corners: Corners, runs: Laws, reach: Fraction = Fraction(1)) -> Extended:
    """By how much a selection can widen the loss of an outcome, beyond that of one run; rounded up."""
    known = [*(corner for corner in corners if corner[0] < reach), (reach, height(corners, reach))]
    if isinstance(runs, PoissonRuns):
        return runs.mean * max(1 - alpha - beta for alpha, beta in known)
    stop, rest = runs.stop, 1 - runs.stop
    ratio = max((stop + rest * (1 - beta)) / (stop + rest * alpha) for alpha, beta in known)
    return (1 + runs.shape) * log_up(ratio)


@guarantee(
    claim="(epsilon + growth up to `reach`, 1 - f(1 - delta) + f(1 - reach) - f(0)) where one run keeps (epsilon, "
    "delta), f the generating function of the runs",
    proof="proofs/repeat_and_select.md#profile",
    reviewed="2e56296e122d",
)
def selected_promise(one_run: Promise, corners: Corners, runs: Laws, reach: Fraction = Fraction(1)) -> Promise:
    """What the best of a random number of runs keeps, from what one run keeps and from its trade-off curve."""
    epsilon, delta = one_run
    lost = Fraction(0)
    if isinstance(runs, PoissonRuns):
        mean = runs.mean
        some = -Fraction(lower(lambda: ball(-mean * delta).expm1())) if delta else Fraction(0)
        if reach < 1:
            lost = Fraction(upper(lambda: ball(-mean).exp() * ball(mean * (1 - reach)).expm1()))
    else:
        some = some_bad(runs, runs.stop + delta - runs.stop * delta) if delta else Fraction(0)
    grown = epsilon + Fraction(largest_growth(corners, runs, reach))
    return grown, coarse(min(Fraction(1), some + lost))


def selected_profile(ask: Ask, known: list[Promise], runs: Laws) -> Profile:
    """The profile of the best run, from the ε of one run at any δ and from what else is known to hold of it."""
    whole = Fraction(1)
    tried = [(promise, whole) for promise in known]
    tried += [(promise, whole) for power in HALVINGS for promise in _asked(ask, Fraction(1, 2**power))]
    rough = corners_of(tuple(promise for promise, _ in tried))
    most = WORTH * Fraction(largest_growth(rough, runs))
    for power in POWERS:
        wanted = Fraction(1, 10**power)
        reach = _reach(runs, wanted * CUT)
        useful = reach < 1 and largest_growth(rough, runs, reach) < most
        delta = _of_one_run(runs, wanted * (1 - CUT) if useful else wanted)
        tried += [(promise, reach if useful else whole) for promise in _asked(ask, delta)]
    corners = corners_of(tuple(promise for promise, _ in tried))
    return Profile([selected_promise(promise, corners, runs, reach) for promise, reach in tried])


def _asked(ask: Ask, delta: Fraction) -> list[Promise]:
    epsilon = ask(delta)
    return [] if epsilon == math.inf else [(Fraction(epsilon), delta)]


def _of_one_run(runs: Laws, wanted: Fraction) -> Fraction:
    """About the δ of one run that makes a δ of the best; what it really makes is worked out from it."""
    share = up(wanted)
    if isinstance(runs, PoissonRuns):
        return min(Fraction(1, 2), Fraction(-math.log1p(-share) / up(runs.mean) * SHY))
    shape, log = up(runs.shape), math.log(up(runs.stop))
    grown = -share * log if runs.shape == 0 else -math.log1p(share * math.expm1(shape * log)) / shape
    return min(Fraction(1, 2), Fraction(math.expm1(grown) / up(1 / runs.stop - 1) * SHY))


def _reach(runs: Laws, wanted: Fraction) -> Fraction:
    """About the rank, from the top, that all runs fall short of with a chance; 1 where it is of no use."""
    if not isinstance(runs, PoissonRuns):
        return Fraction(1)  # these laws have so long a tail that few runs are never rare
    mean = up(runs.mean)
    return min(Fraction(1), Fraction(-math.log(up(wanted) * SHY + math.exp(-mean)) / mean))


@selector(TruncatedNegativeBinomial, PLD)
@selector(PoissonRuns, PLD)
def selected_pld(inner: Event, runs: Laws, total: Total) -> PLD:
    """The distribution of the best run, by its profile."""
    loss = total(inner)
    if not isinstance(loss, PLD):
        raise BadArgument("the loss of one run", "PLD", type(loss).__name__)
    if loss == PLD.nothing():
        return loss
    known = [(Fraction(0), min(Fraction(1), Fraction(loss.delta(0, tolerance=ROUGH).upper)))]
    known += loss.end()
    profile = selected_profile(lambda delta: loss.epsilon(delta, tolerance=ROUGH).upper, known, runs)
    return PLD.of(profile.pair())


@selector(TruncatedNegativeBinomial, Profile)
@selector(PoissonRuns, Profile)
def selected_run_profile(inner: Event, runs: Laws, total: Total) -> Profile:
    """The profile of the best run."""
    loss = total(inner)
    if not isinstance(loss, Profile):
        raise BadArgument("the loss of one run", "Profile", type(loss).__name__)
    return selected_profile(loss.epsilon, list(loss.points), runs) if loss != Profile.nothing() else loss
