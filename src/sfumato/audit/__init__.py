"""Checks that a mechanism keeps its promise: exact, from samples, and by recording what a run randomizes."""

from sfumato.audit.adversary import adversary
from sfumato.audit.black_box import black_box
from sfumato.audit.brute_force import (
    brute_delta,
    brute_epsilon,
    brute_renyi,
    brute_sensitivity,
    brute_tail,
    neighbours,
    outcome_probabilities,
)
from sfumato.audit.canaries import Canaries, Trainer, audit_training, canaries, one_run
from sfumato.audit.exact import exact
from sfumato.audit.fuzz import fuzz
from sfumato.audit.grey_box import grey_box
from sfumato.audit.grey_box_queries import grey_box_query
from sfumato.audit.likelihood import privacy_loss
from sfumato.audit.matrix import matrix
from sfumato.audit.record import Audit, Curve, Line, Verdict, Witness, worst
from sfumato.audit.report import report, save_report
from sfumato.audit.subjects import Trial, examine

__all__ = [
    "Audit",
    "Canaries",
    "Curve",
    "Line",
    "Trainer",
    "Trial",
    "Verdict",
    "Witness",
    "adversary",
    "audit_training",
    "black_box",
    "brute_delta",
    "brute_epsilon",
    "brute_renyi",
    "brute_sensitivity",
    "brute_tail",
    "canaries",
    "exact",
    "examine",
    "fuzz",
    "grey_box",
    "grey_box_query",
    "matrix",
    "neighbours",
    "one_run",
    "outcome_probabilities",
    "privacy_loss",
    "report",
    "save_report",
    "worst",
]
