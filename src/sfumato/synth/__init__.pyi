from .aim import AIM
from .bayesian_network import BayesianNetwork, Network, Part
from .cube import Cube
from .graph.domain import Domain
from .independent import Independent
from .mst import MST
from .multiplicative import Cell, cells_of_marginals, multiplicative_weights
from .mwem import MWEM, MWEMPlan
from .privbayes import PrivBayes
from .synthesizer import Synthesizer
from .synthetic import Synthetic

__all__ = [
    "AIM",
    "MST",
    "MWEM",
    "BayesianNetwork",
    "Cell",
    "Cube",
    "Domain",
    "Independent",
    "MWEMPlan",
    "Network",
    "Part",
    "PrivBayes",
    "Synthesizer",
    "Synthetic",
    "cells_of_marginals",
    "multiplicative_weights",
]
