"""Models and tests in scikit-learn's manners: fitted inside the engine behind a ledger, or on arrays one holds oneself.

Bounds, categories and classes are public: they are stated, or come from a codebook, and never from the data. What a
model needs of the data is one measurement with one price; all else is made of what was released, and costs nothing.
Predictions are about the rows that they are asked for, which nothing protects.
"""

from importlib.util import find_spec

import lazy_loader

from sfumato.errors import MissingExtra

if find_spec("sklearn") is None:
    raise MissingExtra("sfumato.learn", "learn")

# Names are loaded on first use; `__init__.pyi` lists them for everyone.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
