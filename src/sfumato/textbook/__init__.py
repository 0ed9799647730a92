"""Closed forms and one-liners of the texts, out of the way of the system."""

from sfumato.accounting.amplify.curves_poisson import simplified_sampled_bound
from sfumato.accounting.amplify.shuffle import shuffled_epsilon_closed
from sfumato.accounting.convert.renyi import zcdp_epsilon_simple, zcdp_rho_simple
from sfumato.accounting.facts.gaussian import classical_sigma
from sfumato.accounting.plans.classic_composition import (
    advanced_composition,
    basic_composition,
    classic_advanced_epsilon,
    mixture_of_losses,
)
from sfumato.accounting.plans.comparison import compare_accounting
from sfumato.mechanisms.name_and_shame import name_and_shame
from sfumato.mechanisms.response_accuracy import plan_response, response_error, response_variance
from sfumato.mechanisms.selection import exponential_error
from sfumato.textbook.accuracy import chance_of, error_of, expected_error, gaussian_error_bound, scale_for_accuracy
from sfumato.textbook.continuous import Exponential, Gaussian, Gumbel, Laplace, TruncatedLaplace
from sfumato.textbook.dependence import departure_sensitivity, information_sensitivity
from sfumato.textbook.direct import (
    dp_mean,
    exponential_mechanism,
    gaussian_mechanism,
    laplace_mechanism,
    randomized_answer,
)
from sfumato.textbook.gradient_descent import descent_work, gradient_descent, linear_gradient
from sfumato.textbook.inequalities import holder_gap, young_gap
from sfumato.textbook.matrix_comparison import compare
from sfumato.transforms.sensitivity_table import local_sensitivity, sensitivity_table

__all__ = [
    "Exponential",
    "Gaussian",
    "Gumbel",
    "Laplace",
    "TruncatedLaplace",
    "advanced_composition",
    "basic_composition",
    "chance_of",
    "classic_advanced_epsilon",
    "classical_sigma",
    "compare",
    "compare_accounting",
    "departure_sensitivity",
    "descent_work",
    "dp_mean",
    "error_of",
    "expected_error",
    "exponential_error",
    "exponential_mechanism",
    "gaussian_error_bound",
    "gaussian_mechanism",
    "gradient_descent",
    "holder_gap",
    "information_sensitivity",
    "laplace_mechanism",
    "linear_gradient",
    "local_sensitivity",
    "mixture_of_losses",
    "name_and_shame",
    "plan_response",
    "randomized_answer",
    "response_error",
    "response_variance",
    "scale_for_accuracy",
    "sensitivity_table",
    "shuffled_epsilon_closed",
    "simplified_sampled_bound",
    "young_gap",
    "zcdp_epsilon_simple",
    "zcdp_rho_simple",
]
