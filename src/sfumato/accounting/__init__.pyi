from . import events, meaning
from .adaptive.advanced import AdvancedFilter
from .adaptive.approx_filter import ApproxFilter, filter_for
from .adaptive.filters import SumFilter
from .adaptive.odometers import AnytimeOdometer, SumOdometer
from .adaptive.slots import Slots
from .amplify.population import chance_drawn, cluster_amplified, population_amplified
from .amplify.shuffle import shuffled_delta, shuffled_epsilon
from .codec import from_json, to_json
from .convert.convert import explain_route, routes, strength_graph
from .convert.renyi import (
    approx_zcdp_delta,
    approx_zcdp_epsilon,
    preserved_probability,
    renyi_delta,
    renyi_epsilon,
    renyi_order,
    zcdp_delta,
    zcdp_epsilon,
    zcdp_rho,
)
from .facts.gaussian import (
    analytic_sigma,
    discrete_gaussian_delta,
    discrete_gaussian_epsilon,
    gaussian_delta,
    gaussian_epsilon,
)
from .losses.bracket import Bracket
from .losses.measures import BoundedRange
from .losses.trade_off import TradeOff, gaussian_trade_off, trade_off
from .peers.reading import from_dp_accounting
from .peers.writing import to_dp_accounting, to_dp_accounting_json
from .plans.account import CostReport
from .plans.calibration import calibrate_plan, greatest_rate, most_steps, noise_multiplier
from .plans.least_mu import least_mu
from .plans.optimal import mixed_delta, mixed_epsilon, optimal_delta, optimal_epsilon
from .plans.training import dp_sgd
from .pld.characteristic import CharacteristicFunction, characteristic
from .relation import Relation

__all__ = [
    "AdvancedFilter",
    "AnytimeOdometer",
    "ApproxFilter",
    "BoundedRange",
    "Bracket",
    "CharacteristicFunction",
    "CostReport",
    "Relation",
    "Slots",
    "SumFilter",
    "SumOdometer",
    "TradeOff",
    "analytic_sigma",
    "approx_zcdp_delta",
    "approx_zcdp_epsilon",
    "calibrate_plan",
    "chance_drawn",
    "characteristic",
    "cluster_amplified",
    "discrete_gaussian_delta",
    "discrete_gaussian_epsilon",
    "dp_sgd",
    "events",
    "explain_route",
    "filter_for",
    "from_dp_accounting",
    "from_json",
    "gaussian_delta",
    "gaussian_epsilon",
    "gaussian_trade_off",
    "greatest_rate",
    "least_mu",
    "meaning",
    "mixed_delta",
    "mixed_epsilon",
    "most_steps",
    "noise_multiplier",
    "optimal_delta",
    "optimal_epsilon",
    "population_amplified",
    "preserved_probability",
    "renyi_delta",
    "renyi_epsilon",
    "renyi_order",
    "routes",
    "shuffled_delta",
    "shuffled_epsilon",
    "strength_graph",
    "to_dp_accounting",
    "to_dp_accounting_json",
    "to_json",
    "trade_off",
    "zcdp_delta",
    "zcdp_epsilon",
    "zcdp_rho",
]
