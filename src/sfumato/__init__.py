"""sfumato: differential privacy, exact and explained.

Declare a space, chain stable transformations and a mechanism with ``>>``, ask for the price with ``map``, then call it:

>>> import sfumato as sf
>>> mean = sf.vector(float, size=25) >> sf.clamp(0, 100) >> sf.mean() >> sf.laplace(scale=4)
>>> mean.map(1)
Pure(epsilon=1.0)
"""

import lazy_loader

__version__ = "0.1.0"

# Names are loaded on first use, so that the import costs next to nothing; `__init__.pyi` lists them for everyone.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
