from .advising import Scenario, SynthesisAdvice, advise
from .aim import AIM
from .bayesian_network import BayesianNetwork, Network, Part
from .choosing import fit
from .cube import Cube
from .graph.domain import Domain
from .independent import Independent
from .intervals import combined
from .mst import MST
from .multiplicative import Cell, cells_of_marginals, multiplicative_weights
from .mwem import MWEM, MWEMPlan
from .neural.detectors import ModeCollapse
from .neural.dp_gan import DPCTGAN, DPGAN
from .neural.generator import NetworkSettings
from .neural.pate_gan import PATECTGAN, PATEGAN
from .neural.quail import QUAIL
from .privbayes import PrivBayes
from .public import PMWPub
from .rap import RAP
from .reducing import bought_reduction, reduced
from .related import RelatedSynthetic, RelatedTables
from .saving import load
from .schema import schema_of_rows, schema_of_table
from .sweeps import made_up_rows, sweep
from .synthesizer import Synthesizer
from .synthetic import Synthetic

__all__ = [
    "AIM",
    "DPCTGAN",
    "DPGAN",
    "MST",
    "MWEM",
    "PATECTGAN",
    "PATEGAN",
    "QUAIL",
    "RAP",
    "BayesianNetwork",
    "Cell",
    "Cube",
    "Domain",
    "Independent",
    "MWEMPlan",
    "ModeCollapse",
    "Network",
    "NetworkSettings",
    "PMWPub",
    "Part",
    "PrivBayes",
    "RelatedSynthetic",
    "RelatedTables",
    "Scenario",
    "SynthesisAdvice",
    "Synthesizer",
    "Synthetic",
    "advise",
    "bought_reduction",
    "cells_of_marginals",
    "combined",
    "fit",
    "load",
    "made_up_rows",
    "multiplicative_weights",
    "reduced",
    "schema_of_rows",
    "schema_of_table",
    "sweep",
]
