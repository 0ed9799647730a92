from .advising import Scenario, SynthesisAdvice, advise
from .aim import AIM
from .independent import Independent
from .intervals import combined
from .mst import MST
from .reducing import bought_reduction, reduced
from .schema import schema_of_rows, schema_of_table
from .sweeps import made_up_rows, sweep
from .synthesizer import Synthesizer
from .synthetic import Synthetic

__all__ = [
    "AIM",
    "MST",
    "Independent",
    "Scenario",
    "SynthesisAdvice",
    "Synthesizer",
    "Synthetic",
    "advise",
    "bought_reduction",
    "combined",
    "made_up_rows",
    "reduced",
    "schema_of_rows",
    "schema_of_table",
    "sweep",
]
