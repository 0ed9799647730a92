from .attacker import Attacker
from .explanation import explain
from .guidance import (
    believed_in_hundred,
    delta_warning,
    epsilon_warning,
    explain_odds,
    explain_success,
    limit_for_success,
    odds_factor,
    posterior_cap,
    strength,
)
from .realised_loss import gaussian_loss_moments, gaussian_realised, laplace_realised, outside_bad_outcomes

__all__ = [
    "Attacker",
    "believed_in_hundred",
    "delta_warning",
    "epsilon_warning",
    "explain",
    "explain_odds",
    "explain_success",
    "gaussian_loss_moments",
    "gaussian_realised",
    "laplace_realised",
    "limit_for_success",
    "odds_factor",
    "outside_bad_outcomes",
    "posterior_cap",
    "strength",
]
