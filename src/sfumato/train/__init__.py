"""Private training for PyTorch: one plan for batches, clipping, noise and what all of it costs.

What runs is what is accounted for: the rate at which batches are drawn, the bound on what one unit adds, the noise and
the number of steps are stated once, in a `TrainingPlan`, and its event is charged before the first batch.
"""

from importlib.util import find_spec

import lazy_loader

from sfumato.errors import MissingExtra

if find_spec("torch") is None:
    raise MissingExtra("sfumato.train", "torch")

# Names are loaded on first use; `__init__.pyi` lists them for everyone.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
